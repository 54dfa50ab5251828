//go:build unix

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/pgserver"
	"github.com/cardgateway/cardgateway-go/journal"
)

// trouble breaks a store's database, and returns a function that repairs it.
type trouble struct {
	name  string
	only  string // the kind of store; empty for all
	cause func(t *testing.T, spec string) (mend func())
}

var refusals = map[string][2]string{
	"sqlite": {"CREATE TRIGGER no BEFORE UPDATE ON cardgateway_journal BEGIN SELECT RAISE(ABORT, 'refused'); END", "DROP TRIGGER no"},
	"postgres": {`CREATE FUNCTION no() RETURNS trigger AS 'BEGIN RAISE EXCEPTION ''refused''; END' LANGUAGE plpgsql;
		CREATE TRIGGER no BEFORE UPDATE ON cardgateway_journal EXECUTE FUNCTION no()`, "DROP TRIGGER no ON cardgateway_journal"},
	"mysql": {"CREATE TRIGGER no BEFORE UPDATE ON cardgateway_journal FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'", "DROP TRIGGER no"},
}

var troubles = []trouble{
	{"the table refuses updates", "", func(t *testing.T, spec string) func() {
		kind, _, _ := strings.Cut(spec, ":")
		db := openDB(t, spec)
		execAll(t, db, refusals[kind][0])
		return func() { execAll(t, db, refusals[kind][1]) }
	}},
	{"the database is locked", "sqlite", func(t *testing.T, spec string) func() { return hold(t, spec, "BEGIN IMMEDIATE", "ROLLBACK") }},
	{"the disk is full", "sqlite", func(t *testing.T, _ string) func() { return noFileGrows(t) }},
	{"the rows are locked", "postgres", func(t *testing.T, spec string) func() {
		return hold(t, spec, "BEGIN", "SELECT * FROM cardgateway_journal FOR UPDATE", "ROLLBACK")
	}},
	{"the table is locked", "postgres", func(t *testing.T, spec string) func() {
		return hold(t, spec, "BEGIN", "LOCK TABLE cardgateway_journal IN ACCESS EXCLUSIVE MODE", "ROLLBACK")
	}},
	{"the rows are locked", "mysql", func(t *testing.T, spec string) func() {
		return hold(t, spec, "START TRANSACTION", "SELECT * FROM cardgateway_journal FOR UPDATE", "ROLLBACK")
	}},
	{"the table is locked", "mysql", func(t *testing.T, spec string) func() {
		return hold(t, spec, "LOCK TABLES cardgateway_journal WRITE", "UNLOCK TABLES")
	}},
}

// TestStuck: payments that were proved unsent are made again while the database is in trouble. Every call returns within
// its limit with "not sent", and none uses much CPU time. Once the trouble is over, all are paid.
func TestStuck(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		kind, _, _ := strings.Cut(spec, ":")
		for _, tr := range troubles {
			if tr.only == "" || tr.only == kind {
				t.Run(tr.name, func(t *testing.T) { stuck(t, spec, tr) })
			}
		}
	})
}

const (
	stuckCallers = 8
	stuckTimeout = time.Second // the deadline of each call, and its WriteTimeout
	stuckSlack   = time.Second // for a busy machine
)

func stuck(t *testing.T, spec string, tr trouble) {
	store, done, err := OpenStore(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := done(); err != nil {
			t.Error(err)
		}
	}()
	var up atomic.Bool
	w := &switched{up: &up}
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "https://gateway.test", AppID: "7", HTTPClient: &http.Client{Transport: w}})
	if err != nil {
		t.Fatal(err)
	}
	j := journal.New(client, store, journal.Options{WriteTimeout: stuckTimeout})
	orders := Orders(uint64(time.Now().UnixNano()), stuckCallers)
	for _, o := range orders {
		if _, err := j.CreateSubscription(t.Context(), o.subscription()); !cardgateway.SafeToRetry(err) {
			t.Fatalf("with nobody there: %v", err)
		}
	}
	up.Store(true)
	mend := tr.cause(t, spec)
	lasting := 3 * time.Second
	if long() {
		lasting = time.Minute
	}
	begun, share := time.Now(), processorShare()
	var calls atomic.Int64
	var slowest atomic.Int64
	var wg sync.WaitGroup
	for i := range orders {
		wg.Go(func() {
			for time.Since(begun) < lasting {
				ctx, cancel := context.WithTimeout(t.Context(), stuckTimeout)
				started := time.Now()
				_, err := j.CreateSubscription(ctx, orders[i].subscription())
				cancel()
				took := time.Since(started)
				slowest.Store(max(slowest.Load(), int64(took)))
				if calls.Add(1); took > stuckTimeout+stuckSlack || !cardgateway.SafeToRetry(err) {
					t.Errorf("after %v: %v", took, err)
					return
				}
				time.Sleep(200 * time.Millisecond) // as a shop would, at the least
			}
		})
	}
	wg.Wait()
	t.Logf("%d calls in %v, the slowest %v", calls.Load(), time.Since(begun).Round(time.Millisecond), time.Duration(slowest.Load()).Round(time.Millisecond))
	checkShare(t, share())
	mend()
	for i := range orders {
		var err error
		for range 20 { // a connection that waited for the lock may take a moment to be closed
			if _, err = j.CreateSubscription(t.Context(), orders[i].subscription()); !cardgateway.SafeToRetry(err) {
				break
			}
		}
		if err != nil && !errors.Is(err, cardgateway.ErrDeclined) {
			t.Errorf("once the trouble is over: %v", err)
		}
	}
}

// processorShare returns a function that returns the share of a core used by this process since.
func processorShare() func() float64 {
	begun, before := time.Now(), processorTime()
	return func() float64 { return (processorTime() - before).Seconds() / time.Since(begun).Seconds() }
}

// checkShare fails the test if much CPU time was used while a database was in trouble.
func checkShare(t *testing.T, share float64) {
	t.Helper()
	t.Logf("%.1f %% of a core", 100*share)
	if share > 0.05 {
		t.Errorf("it used %.1f %% of a core, want at most 5 %%", 100*share)
	}
}

// switched is a network that is down, or approves everything.
type switched struct{ up *atomic.Bool }

func (s *switched) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.up.Load() {
		return nil, syscall.ECONNREFUSED
	}
	return approving(func(string) {}).RoundTrip(r)
}

// approving is a gateway that approves every payment, and records which.
type approving func(transactionID string)

func (a approving) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var req struct {
		TransactionID string `json:"transactionId"`
		Amount        any    `json:"amount"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	a(req.TransactionID)
	text := fmt.Sprintf(`{"code":100,"uniqueId":"1","transactionId":%q,"transactionAmount":"%v","transactionCurrency":"USD"}`, req.TransactionID, req.Amount)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}, nil
}

// TestGoneAndBack: the server is killed in the middle of payments and restarted. Nobody waits beyond the limit, what was
// sent is in the journal, and the journal continues by itself.
func TestGoneAndBack(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		p, err := pgserver.Start()
		if pgserver.MaySkip(err) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = p.Stop() }()
		goneAndBack(t, "postgres:"+p.URL("gone"), p.Kill, p.Restart)
	})
	t.Run("mysql", func(t *testing.T) {
		m, err := mysqlserver.Start()
		if mysqlserver.MaySkip(err) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Stop() }()
		goneAndBack(t, "mysql:"+m.DSN("gone"), m.Kill, m.Restart)
	})
}

// goneAndBack makes payments before a trouble of the database, during it and after it.
func goneAndBack(t *testing.T, spec string, cause, mend func() error) {
	store, done, err := OpenStore(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = done() }()
	var charged sync.Map
	network := approving(func(id string) {
		if _, twice := charged.LoadOrStore(id, true); twice {
			t.Errorf("%s was sent twice", id)
		}
	})
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "https://gateway.test", AppID: "7", HTTPClient: &http.Client{Transport: network}})
	if err != nil {
		t.Fatal(err)
	}
	j := journal.New(client, store, journal.Options{WriteTimeout: 2 * time.Second})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var paid, unsent, unknown atomic.Int64
	for i := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				o := Order{ID: fmt.Sprintf("%d-%d", i, n), Amount: "1.00"}
				begun := time.Now()
				_, err := j.CreateSubscription(t.Context(), o.subscription())
				if took := time.Since(begun); took > 5*time.Second {
					t.Errorf("a call took %v", took)
				}
				_, sent := charged.Load(o.ID)
				switch {
				case err == nil:
					paid.Add(1)
				case cardgateway.SafeToRetry(err):
					if unsent.Add(1) == 1 {
						t.Log(err)
					}
					if sent {
						t.Errorf("%s was sent, and is said not to be: %v", o.ID, err)
					}
				default:
					unknown.Add(1)
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	if err := cause(); err != nil {
		t.Fatal(err)
	}
	lasting := 5 * time.Second // longer, with the second before, than a payment under way and one that cannot begin take together
	if long() {
		lasting = time.Minute
	}
	time.Sleep(time.Second) // what is in progress ends
	share := processorShare()
	time.Sleep(lasting)
	checkShare(t, share())
	if err := mend(); err != nil {
		t.Fatal(err)
	}
	before := paid.Load()
	time.Sleep(time.Second)
	close(stop)
	wg.Wait()
	t.Logf("%d paid, %d not sent, %d unknown", paid.Load(), unsent.Load(), unknown.Load())
	if paid.Load() == before || unsent.Load() == 0 {
		t.Errorf("%d were paid before, %d in all; %d were not sent", before, paid.Load(), unsent.Load())
	}
	for id := range charged.Range {
		if _, err := j.Get(t.Context(), id.(string)); err != nil {
			t.Fatalf("%v was charged, and the journal has: %v", id, err)
		}
	}
}
