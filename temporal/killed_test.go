package temporal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// manyPayments is how many payments TestKilledPayments makes. In short mode it makes a tenth of them.
const manyPayments = 1000

// TestKilledPayments makes payments while responses are lost, workers are killed, and the server is killed and started again. The
// gateway's own ledger tells how often each payment was charged. Then the whole of what the server has stored is searched for the
// token, card numbers and verification codes.
func TestKilledPayments(t *testing.T) {
	s, gateway, db, task := deploy(t)
	task.Queries = 500
	for _, reply := range []sandbox.Reply{sandbox.ReplyClose, sandbox.ReplyTruncated, sandbox.ReplyHTML} {
		gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Times: -1, OneIn: 12, Reply: reply})
	}
	gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Times: -1, OneIn: 12, After: 300 * time.Millisecond})
	n := manyPayments
	if testing.Short() {
		n /= 10
	}
	start := time.Now()
	ids := make([]journal.ID, n)
	for i := range ids {
		ids[i] = journal.PaymentID(fmt.Sprintf("t-%d", i))
		if i%4 == 1 {
			ids[i] = journal.PaymentID(fmt.Sprintf("%s%d", byCard, i))
		}
	}
	first, second := startWorker(t, task), startWorker(t, task)

	var starting sync.WaitGroup
	var serverChange sync.RWMutex // the server is not replaced while a payment is being started
	starting.Go(func() {
		for i, id := range ids {
			for {
				serverChange.RLock()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				_, err := s.engine().Start(ctx, Settlement{ID: id, FirstQuery: time.Second})
				cancel()
				serverChange.RUnlock()
				if err == nil || t.Context().Err() != nil {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			if i%50 == 49 {
				time.Sleep(100 * time.Millisecond)
			}
		}
	})
	// Kill a worker every few seconds, unless nothing was reported since the last time, and the server in the middle.
	kills, restarted, last := 0, false, 0
	started := make(chan struct{})
	go func() {
		starting.Wait()
		close(started)
	}()
	for open := true; open; {
		select {
		case <-started:
			open = false
		case <-time.After(4*time.Second + rand.N(4*time.Second)):
		}
		reported := count(t, db, `SELECT count(*) FROM told`)
		if reported == last {
			continue
		}
		last = reported
		if kills++; kills%2 == 0 {
			kill(first)
			first = startWorker(t, task)
		} else {
			kill(second)
			second = startWorker(t, task)
		}
		if !restarted && reported > n/3 {
			restarted = true
			serverChange.Lock()
			s.restart()
			serverChange.Unlock()
		}
	}
	if !restarted {
		s.restart()
	}
	// A worker that was killed between recording a payment and sending it leaves it open: nobody else can know that it was not sent.
	// One that was killed just before recording it, when Temporal was told that it begins, leaves the workflow without an entry.
	begun := func(id journal.ID) bool {
		got, err := s.engine().Status(t.Context(), id)
		return err == nil && got.Submissions == 1 && count(t, db, `SELECT count(*) FROM cardgateway_journal WHERE transaction_id = '`+id.Text+`'`) == 0
	}
	var twice, forgotten, wrong, open, lost, sent int
	fewest, since := n+1, time.Now() // it goes on as long as there is progress: a busy machine is slow
	for ; time.Since(since) < 2*time.Minute; time.Sleep(time.Second) {
		told := reports(t, db)
		twice, forgotten, wrong, open, lost, sent = 0, 0, 0, 0, 0, 0
		for _, id := range ids {
			executed, state := gateway.Executed(id.Text), told[id.Text]
			switch {
			case executed > 1:
				twice++
			case state == "" && begun(id):
				lost++
				if gateway.received(id.Text) {
					sent++
				}
			case executed == 1 && state != "succeeded", state == "":
				forgotten++
			case executed == 0 && state != "unknown":
				wrong++
			case executed == 0:
				if open++; gateway.received(id.Text) {
					sent++
				}
			}
		}
		if forgotten == 0 {
			break
		}
		if forgotten < fewest {
			fewest, since = forgotten, time.Now()
		}
	}
	t.Logf("%d payments in %v, %d workers and the server killed: "+
		"charged twice %d, forgotten %d, reported wrong %d, open and not charged %d, begun and not recorded %d",
		n, time.Since(start), kills, twice, forgotten, wrong, open, lost)
	if twice != 0 || forgotten != 0 || wrong != 0 {
		t.Error("want none of the first three")
	}
	if sent != 0 || open+lost > kills {
		t.Errorf("the gateway has received the requests of %d open payments, want none, and at most one open payment for each worker killed", sent)
	}
	if left := count(t, db, `SELECT count(*) FROM cardgateway_journal WHERE unacked`); left != open {
		t.Errorf("%d entries are not acknowledged, want %d", left, open)
	}
	searchStored(t, s, ids[:min(20, n)], cardCode, task.Token, sandbox.TestCard(sandbox.Approved).Number, "203.0.113.7")
}

// TestKilledBeforeSending: a payment whose worker ends after it was recorded, and before it is sent, stays open: it is not sent by
// another worker. When it has been open for a day it is presumed absent, and paid again only by an order that accepts the risk.
func TestKilledBeforeSending(t *testing.T) {
	s, gateway, db, task := deploy(t)
	dies := task
	dies.DiesBefore = "t-1"
	first := startWorker(t, dies)
	id := journal.PaymentID("t-1")
	run, err := s.engine().Start(t.Context(), Settlement{ID: id, FirstQuery: time.Second})
	must(t, err)
	if err := first.Wait(); err == nil || gateway.received("t-1") {
		t.Fatalf("the worker ended with %v, want that it was killed before it sent the payment", err)
	}
	startWorker(t, task)
	waitFor := func(state string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); reports(t, db)["t-1"] != state; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("got the report %q, want %q", reports(t, db)["t-1"], state)
			}
		}
		if gateway.received("t-1") {
			t.Errorf("%s: the payment was sent", state)
		}
	}
	waitFor("unknown")
	exec1(t, db, `UPDATE cardgateway_journal SET intent = jsonb_set(intent::jsonb, '{at}', to_jsonb(now() - interval '25 hours'))::text`)
	waitFor("presumed absent")
	must(t, s.engine().PayAgainRiskingSecondCharge(t.Context(), id, 2, journal.AcceptNoOrderGuard))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got Status
	if err := run.Get(ctx, &got); err != nil || got.State != "succeeded" || got.Submissions != 2 || gateway.Executed("t-1") != 1 {
		t.Errorf("got %+v, %v and %d charges; want the second submission to succeed", got, err, gateway.Executed("t-1"))
	}
}

// TestKilledWithJournal: a worker and what the journal wrote last are lost together, when the payment may have been sent. No other
// worker submits it again.
func TestKilledWithJournal(t *testing.T) {
	s, gateway, db, task := deploy(t)
	dies := task
	dies.DiesBefore = "t-1"
	first := startWorker(t, dies)
	id := journal.PaymentID("t-1")
	if _, err := s.engine().Start(t.Context(), Settlement{ID: id, FirstQuery: time.Second}); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Fatal("the worker was not killed")
	}
	exec1(t, db, `DELETE FROM cardgateway_journal`)
	startWorker(t, task)
	var got Status
	for end := time.Now().Add(time.Minute); got.Submissions == 0 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		now, err := s.engine().Status(t.Context(), id)
		if got = now; err != nil { // no worker has answered yet
			t.Log(err)
		}
	}
	time.Sleep(5 * time.Second) // some queries
	if got.State != "unknown" || got.Submissions != 1 || gateway.received("t-1") || count(t, db, `SELECT count(*) FROM cardgateway_journal`) != 0 {
		t.Errorf("got %+v, submitted again %v; want one submission that is unknown", got, gateway.received("t-1"))
	}
}

// deploy starts a server, a gateway and a database, and returns the task of workers for them.
func deploy(t *testing.T) (*server, *receiving, *sql.DB, workerTask) {
	t.Helper()
	s, gateway := startServer(t), startReceiving(t)
	url, db := database(t)
	return s, gateway, db, workerTask{Server: s.Address, Gateway: gateway.url, Token: gateway.NewToken(sandbox.Approved), Database: url}
}

// receiving is a gateway that notes which payments it has received, and when it was searched.
type receiving struct {
	*sandbox.Gateway
	url      string
	mu       sync.Mutex
	ids      map[string]bool
	searches []time.Time
}

func startReceiving(t *testing.T) *receiving {
	t.Helper()
	o := sandbox.Options{NoNotifications: true, Duplicates: sandbox.DuplicatesExecuted}
	g := &receiving{Gateway: sandbox.New(o), ids: map[string]bool{}}
	server := httptest.NewServer(g)
	g.url = server.URL
	t.Cleanup(func() {
		server.Close()
		g.Close()
	})
	return g
}

func (g *receiving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var payment struct{ TransactionID string }
	g.mu.Lock()
	if strings.HasPrefix(r.URL.Path, "/search/") {
		g.searches = append(g.searches, time.Now())
	} else if err == nil && json.Unmarshal(body, &payment) == nil {
		g.ids[payment.TransactionID] = true
	}
	g.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	g.Gateway.ServeHTTP(w, r)
}

func (g *receiving) received(transactionID string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ids[transactionID]
}

// TestReset: a workflow that an operator resets to its beginning, and one that is started again, submits nothing.
func TestReset(t *testing.T) {
	s, gateway, _, task := deploy(t)
	startWorker(t, task)
	id := journal.PaymentID("t-1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check := func(how string, runID string) {
		var got Status
		if err := s.GetWorkflow(ctx, s.engine().WorkflowID(id), runID).Get(ctx, &got); err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		if n := gateway.Executed("t-1"); n != 1 || got.State != "succeeded" || got.Submissions != 1 {
			t.Errorf("%s: got %d charges and %+v", how, n, got)
		}
		told, err := s.engine().Status(ctx, id)
		if err != nil || told != got {
			t.Errorf("%s: got the status %+v, %v; want %+v", how, told, err, got)
		}
	}
	run, err := s.engine().Start(ctx, Settlement{ID: id, FirstQuery: time.Second})
	must(t, err)
	check("first", run.GetRunID())
	reset, err := s.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &common.WorkflowExecution{WorkflowId: run.GetID(), RunId: run.GetRunID()},
		Reason: "test", WorkflowTaskFinishEventId: 4, RequestId: "reset",
	})
	must(t, err)
	check("reset", reset.RunId)
	if run, err = s.engine().Start(ctx, Settlement{ID: id}); err != nil {
		t.Fatal(err)
	}
	check("started again", run.GetRunID())
	must(t, s.engine().Notified(ctx, id))
	check("notified after its end", "")
	// A notification of what was never paid submits nothing, although the worker could.
	other := journal.PaymentID("t-2")
	must(t, s.engine().Notified(ctx, other))
	if err := s.GetWorkflow(ctx, s.engine().WorkflowID(other), "").Get(ctx, nil); err == nil || gateway.Executed("t-2") != 0 {
		t.Errorf("notified of another payment: got %v and %d charges", err, gateway.Executed("t-2"))
	}
}

// reports returns what the workers have reported, by id.
func reports(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT id, state FROM told`)
	must(t, err)
	defer func() { _ = rows.Close() }()
	all := map[string]string{}
	for rows.Next() {
		var id, state string
		must(t, rows.Scan(&id, &state))
		all[id] = state
	}
	return all
}
