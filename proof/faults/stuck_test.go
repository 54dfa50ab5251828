//go:build unix

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
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
		db, refusal := openDB(t, spec), refusals[storeKind(spec)]
		execAll(t, db, refusal[0])
		return func() { execAll(t, db, refusal[1]) }
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
// its limit with "not sent", and none asks the database again and again. Once the trouble is over, all are paid.
func TestStuck(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		for _, tr := range troubles {
			if tr.only == "" || tr.only == storeKind(spec) {
				t.Run(tr.name, func(t *testing.T) { stuck(t, spec, tr) })
			}
		}
	})
}

const (
	stuckCallers = 8
	stuckTimeout = time.Second // the deadline of each call, and its WriteTimeout
	// stuckSlack is for a busy machine. A call that waits for the database instead returns only after its time limit for
	// locks, which is ten seconds or more.
	stuckSlack = 7 * time.Second
	// maxAsked is how often a call may ask a database in trouble: a few attempts with some statements each. Without the
	// pauses between them there would be thousands.
	maxAsked = 100
)

func stuck(t *testing.T, spec string, tr trouble) {
	store, asked := openCounted(t, spec)
	var up atomic.Bool
	w := &switched{up: &up}
	client := clienttest.NewClient(t, cardgateway.Config{BaseURL: "https://gateway.test", AppID: "7", HTTPClient: &http.Client{Transport: w}})
	patient := journal.New(client, store, journal.Options{}) // on a busy machine, a second may pass before a row is written
	orders := Orders(uint64(time.Now().UnixNano()), stuckCallers)
	var wg sync.WaitGroup
	for _, o := range orders {
		wg.Go(func() {
			if _, err := patient.CreateSubscription(t.Context(), o.subscription()); !cardgateway.SafeToRetry(err) {
				t.Errorf("with nobody there: %v", err)
			}
		})
	}
	wg.Wait()
	up.Store(true)
	mend := tr.cause(t, spec)
	j := journal.New(client, store, journal.Options{WriteTimeout: stuckTimeout})
	calls := 2 // of each caller: the second finds that the first gave up
	if long() {
		calls = 50
	}
	before := asked.Load()
	for i := range orders {
		wg.Go(func() {
			for range calls {
				ctx, cancel := context.WithTimeout(t.Context(), stuckTimeout)
				started := time.Now()
				_, err := j.CreateSubscription(ctx, orders[i].subscription())
				cancel()
				if took := time.Since(started); took > stuckTimeout+stuckSlack || !cardgateway.SafeToRetry(err) {
					t.Errorf("after %v: %v", took, err)
					return
				}
			}
		})
	}
	wg.Wait()
	checkAsked(t, asked.Load()-before, int64(stuckCallers*calls))
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

// checkAsked fails the test if calls asked a database in trouble too often.
func checkAsked(t *testing.T, asked, calls int64) {
	t.Helper()
	t.Logf("%d calls asked the database %d times", calls, asked)
	if asked > calls*maxAsked {
		t.Errorf("%d calls asked the database %d times, want at most %d", calls, asked, calls*maxAsked)
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
	var req struct {
		TransactionID string `json:"transactionId"`
		Amount        any    `json:"amount"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return nil, err
	}
	a(req.TransactionID)
	return clienttest.Respond(r, 200, fmt.Sprintf(
		`{"code":100,"uniqueId":"1","transactionId":%q,"transactionAmount":"%v","transactionCurrency":"USD"}`, req.TransactionID, req.Amount))
}

// TestGoneAndBack: the server is killed in the middle of payments and restarted. Nobody waits beyond the limit, what was
// sent is in the journal, and the journal continues by itself.
func TestGoneAndBack(t *testing.T) {
	parallel(t)
	t.Run("postgres", func(t *testing.T) {
		p := pgserver.Own(t)
		goneAndBack(t, "postgres:"+p.URL("gone"), p.Kill, p.Restart)
	})
	t.Run("mysql", func(t *testing.T) {
		m := mysqlserver.Own(t)
		goneAndBack(t, "mysql:"+m.DSN("gone"), m.Kill, m.Restart)
	})
}

// goneAndBack makes payments before a trouble of the database, during it and after it.
func goneAndBack(t *testing.T, spec string, cause, mend func() error) {
	store, asked := openCounted(t, spec)
	var charged sync.Map
	network := approving(func(id string) {
		if _, twice := charged.LoadOrStore(id, true); twice {
			t.Errorf("%s was sent twice", id)
		}
	})
	client := clienttest.NewClient(t, cardgateway.Config{BaseURL: "https://gateway.test", AppID: "7", HTTPClient: &http.Client{Transport: network}})
	j := journal.New(client, store, journal.Options{WriteTimeout: 2 * time.Second})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var paid, unsent, unknown, ended atomic.Int64
	const callers = 4
	for i := range callers {
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
				if took := time.Since(begun); took > 4*time.Second+stuckSlack { // a beginning and an outcome that cannot be written
					t.Errorf("a call took %v", took)
				}
				ended.Add(1)
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
	asked0, ended0 := asked.Load(), ended.Load()
	time.Sleep(lasting)
	checkAsked(t, asked.Load()-asked0, ended.Load()-ended0+callers) // and those in progress
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
		if _, err := j.Get(t.Context(), journal.PaymentID(id.(string))); err != nil {
			t.Fatalf("%v was charged, and the journal has: %v", id, err)
		}
	}
}
