package temporal

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"go.temporal.io/api/enums/v1"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// BenchmarkPayment measures a payment until its outcome is reported and acknowledged: with the journal alone, and as a workflow.
// Both use the same Postgres server; the gateway approves at once.
func BenchmarkPayment(b *testing.B) {
	for _, callers := range []int{1, 16} {
		for _, engine := range []bool{false, true} {
			name := map[bool]string{false: "journal", true: "workflow"}[engine]
			b.Run(fmt.Sprintf("%s/callers=%d", name, callers), func(b *testing.B) { benchmarkPayment(b, callers, engine) })
		}
	}
}

func benchmarkPayment(b *testing.B, callers int, engine bool) {
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true})
	if err != nil {
		b.Fatal(err)
	}
	defer gateway.Close()
	url, db := database(b)
	task := workerTask{Gateway: gateway.URL, Database: url, Queries: 10_000}
	var s *server
	var pay func(context.Context, journal.ID) error
	if engine {
		s = startServer(b)
		task.Server = s.Address
		startWorker(b, task)
		pay = func(ctx context.Context, id journal.ID) error {
			run, err := s.engine().Start(ctx, Settlement{ID: id})
			if err != nil {
				return err
			}
			return run.Get(ctx, nil)
		}
	} else {
		p, closeDB, err := task.payments(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		defer closeDB()
		j := journal.New(p.Client, p.Store, p.Journal)
		pay = func(ctx context.Context, id journal.ID) error {
			if err := p.Submit(ctx, j, id); err != nil {
				return err
			}
			e, err := j.Get(ctx, id)
			if err != nil {
				return err
			}
			if err := p.Report(ctx, e); err != nil {
				return err
			}
			return j.Ack(ctx, id, e.State())
		}
	}
	if err := pay(b.Context(), journal.PaymentID(byCard+"warm")); err != nil {
		b.Fatal(err)
	}
	before := written(b, db)
	var next atomic.Int64
	b.ResetTimer()
	var paying sync.WaitGroup
	for range callers {
		paying.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					return
				}
				if err := pay(b.Context(), journal.PaymentID(fmt.Sprintf("%s%d", byCard, n))); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	paying.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "payments/s")
	b.ReportMetric(float64(written(b, db)-before)/float64(b.N), "WAL-B/op")
	if engine {
		events := 0
		for all := s.GetWorkflowHistory(b.Context(), s.engine().WorkflowID(journal.PaymentID(byCard+"1")), "", false,
			enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); all.HasNext(); events++ {
			if _, err := all.Next(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(events), "events/op")
		if file, err := os.Stat(s.File); err == nil {
			b.ReportMetric(float64(file.Size())/float64(b.N), "stored-B/op")
		}
	}
}

// written returns how many bytes the Postgres server has written to its log, which has every change.
func written(t testing.TB, db *sql.DB) int {
	return count(t, db, `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint`)
}
