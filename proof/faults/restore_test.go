package faults

import (
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestRestoreBackup: the database of the journal is replaced by a backup again and again, and then every call is made again. By the
// procedure (end the program, restore, record what a walk since the backup shows, start), no payment is charged twice; without it, many are.
func TestRestoreBackup(t *testing.T) {
	parallel(t)
	everyStore(t, func(t *testing.T, spec string) {
		rounds, payments := 2, 100
		if long() {
			rounds, payments = 10, 1000
		}
		if row := restored(t, spec, rounds, payments, true); row.Broken() > 0 || row.Open() > 0 {
			t.Errorf("%d broken, %d open: %v", row.Broken(), row.Open(), row.Failures)
		}
		if row := restored(t, spec, 1, 100, false); row.Twice < 30 {
			t.Errorf("without the procedure only %d are charged twice: they were not lost", row.Twice)
		}
	})
}

// restored makes payments over broken connections, and restores after each round a backup that was made before it.
func restored(t *testing.T, spec string, rounds, payments int, walks bool) *Row {
	t.Helper()
	seed := uint64(19)
	if !walks {
		seed++
	}
	g := sandbox.New(sandbox.Options{Duplicates: sandbox.DuplicatesExecuted, NoNotifications: true, Seed: seed})
	defer g.Close()
	s := newSite(g, FrontOptions{Seed: seed, PaymentShare: 0.3, QueryShare: 0.1})
	defer s.front.Close()
	client, err := s.client()
	if err != nil {
		t.Fatal(err)
	}
	orders := Orders(seed, rounds*payments)
	verdicts := make([]Verdict, len(orders))
	all := make([]movement, len(orders))
	for i := range orders {
		all[i] = &orders[i]
	}
	var d Design
	start := func() (end func()) {
		store, done, err := OpenStore(spec)
		if err == nil {
			d, err = JournalOver(t.Name(), store)(s)
		}
		if err != nil {
			t.Fatal(err)
		}
		return func() { succeeds(t, done()) }
	}
	end := start()
	db := openDB(t, spec)
	for round := range rounds {
		begun, first := time.Now(), round*payments
		pay := func(i int) { verdicts[first+i] = d.Make(background, all[first+i]) }
		execAll(t, db, "DROP TABLE IF EXISTS backup", "CREATE TABLE backup AS SELECT * FROM cardgateway_journal")
		each(payments, 16, pay)
		end()
		if err := s.front.Drain(s.callers...); err != nil { // nothing is on its way any more
			t.Fatal(err)
		}
		execAll(t, db, "DELETE FROM cardgateway_journal", "INSERT INTO cardgateway_journal SELECT * FROM backup")
		end = start()
		rows := 0
		walk := func() error {
			rows = 0
			for row, err := range client.Orders(t.Context(), cardgateway.OrderQuery{Start: begun.Add(-time.Minute), End: time.Now()}) {
				if err == nil && walks {
					err = d.(*journalDesign).shop.Restore(t.Context(), row)
				}
				if err != nil {
					return err
				}
				rows++
			}
			return nil
		}
		err := walk()
		for again := 0; err != nil && again < 20; again++ { // a page can meet a fault at each attempt
			err = walk()
		}
		if err != nil {
			t.Fatal(err)
		}
		if rows < payments/2 {
			t.Errorf("a walk shows only %d rows", rows)
		}
		each(payments, 16, pay)
	}
	if err := s.front.Drain(s.callers...); err != nil {
		t.Fatal(err)
	}
	approvePending(g, orders)
	d.Finish(background, all, verdicts)
	end()
	row := &Row{Mix: Mix{Payments: len(orders)}, Verdicts: make(map[Verdict]int)}
	for i, v := range verdicts {
		row.judge(orders[i].ID, v, orders[i].moved(g))
	}
	t.Logf("%+v", *row)
	return row
}
