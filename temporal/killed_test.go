package temporal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// manyPayments is how many payments TestKilledPayments makes. In short mode it makes a tenth of them.
const manyPayments = 1000

// TestKilledPayments makes payments while responses are lost, workers are killed, and the server is killed and started again. The
// gateway's own ledger tells how often each payment was charged. Then the whole of what the server has stored is searched for the
// token and card numbers.
func TestKilledPayments(t *testing.T) {
	s := startServer(t)
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true, Duplicates: sandbox.DuplicatesExecuted})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	url, db := database(t)
	exec1(t, db, `CREATE TABLE told (id TEXT PRIMARY KEY, state TEXT)`)
	for _, reply := range []sandbox.Reply{sandbox.ReplyClose, sandbox.ReplyTruncated, sandbox.ReplyHTML} {
		gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, Times: -1, OneIn: 12, Reply: reply})
	}
	gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, Times: -1, OneIn: 12, After: 300 * time.Millisecond})
	task := workerTask{Server: s.Address, Gateway: gateway.URL, Token: gateway.NewToken(sandbox.Approved), Database: url, Queries: 500}
	n := manyPayments
	if testing.Short() {
		n /= 10
	}
	begun := time.Now()
	ids := make([]journal.ID, n)
	for i := range ids {
		ids[i] = journal.PaymentID(fmt.Sprintf("t-%d", i))
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
	// Kill a worker every few seconds, and the server in the middle.
	kills, restarted := 0, false
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
		if kills++; kills%2 == 0 {
			kill(first)
			first = startWorker(t, task)
		} else {
			kill(second)
			second = startWorker(t, task)
		}
		if !restarted && count(t, db, `SELECT count(*) FROM told`) > n/3 {
			restarted = true
			serverChange.Lock()
			s.restart()
			serverChange.Unlock()
		}
	}
	if !restarted {
		s.restart()
	}
	// A worker that was killed between recording a payment and sending it leaves it open: nobody can know that it was not sent.
	var twice, forgotten, wrong, open int
	fewest, since := n+1, time.Now() // it goes on as long as there is progress: a busy machine is slow
	for ; time.Since(since) < 2*time.Minute; time.Sleep(time.Second) {
		told := reports(t, db)
		twice, forgotten, wrong, open = 0, 0, 0, 0
		for _, id := range ids {
			executed, state := gateway.Executed(id.Text), told[id.Text]
			switch {
			case executed > 1:
				twice++
			case executed == 1 && state != "succeeded", state == "":
				forgotten++
			case executed == 0 && state != "unknown":
				wrong++
			case executed == 0:
				open++
			}
		}
		if forgotten == 0 {
			break
		}
		if forgotten < fewest {
			fewest, since = forgotten, time.Now()
		}
	}
	t.Logf("%d payments in %v, %d workers and the server killed: charged twice %d, forgotten %d, reported wrong %d, open and not charged %d",
		n, time.Since(begun), kills, twice, forgotten, wrong, open)
	if twice != 0 || forgotten != 0 || wrong != 0 {
		t.Error("want none of the first three")
	}
	if left := count(t, db, `SELECT count(*) FROM cardgateway_journal WHERE unacked`); left != open {
		t.Errorf("%d entries are not acknowledged, want %d", left, open)
	}
	searchStored(t, s, ids[:min(20, n)], task.Token, sandbox.TestCard(sandbox.Approved).Number, "203.0.113.7")
}

// TestReset: a workflow that an operator resets to its beginning, and one that is started again, submits nothing.
func TestReset(t *testing.T) {
	s := startServer(t)
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true, Duplicates: sandbox.DuplicatesExecuted})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	url, db := database(t)
	exec1(t, db, `CREATE TABLE told (id TEXT PRIMARY KEY, state TEXT)`)
	startWorker(t, workerTask{Server: s.Address, Gateway: gateway.URL, Token: gateway.NewToken(sandbox.Approved), Database: url})
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
	if err != nil {
		t.Fatal(err)
	}
	check("first", run.GetRunID())
	reset, err := s.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &common.WorkflowExecution{WorkflowId: run.GetID(), RunId: run.GetRunID()},
		Reason: "test", WorkflowTaskFinishEventId: 4, RequestId: "reset",
	})
	if err != nil {
		t.Fatal(err)
	}
	check("reset", reset.RunId)
	if run, err = s.engine().Start(ctx, Settlement{ID: id}); err != nil {
		t.Fatal(err)
	}
	check("started again", run.GetRunID())
	if err := s.engine().Notified(ctx, id); err != nil {
		t.Fatal(err)
	}
	check("notified after its end", "")
	// A notification of what was never paid submits nothing, although the worker could.
	other := journal.PaymentID("t-2")
	if err := s.engine().Notified(ctx, other); err != nil {
		t.Fatal(err)
	}
	if err := s.GetWorkflow(ctx, s.engine().WorkflowID(other), "").Get(ctx, nil); err == nil || gateway.Executed("t-2") != 0 {
		t.Errorf("notified of another payment: got %v and %d charges", err, gateway.Executed("t-2"))
	}
}

// reports returns what the workers have reported, by id.
func reports(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT id, state FROM told`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	all := map[string]string{}
	for rows.Next() {
		var id, state string
		if err := rows.Scan(&id, &state); err != nil {
			t.Fatal(err)
		}
		all[id] = state
	}
	return all
}

// searchStored fails the test if the files of the server, or the histories as it exports them, contain one of the texts.
func searchStored(t *testing.T, s *server, ids []journal.ID, texts ...string) {
	t.Helper()
	stored := map[string][]byte{}
	for _, id := range ids {
		events := s.GetWorkflowHistory(t.Context(), s.engine().WorkflowID(id), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			text, err := protojson.Marshal(event)
			if err != nil {
				t.Fatal(err)
			}
			stored["history"] = append(stored["history"], text...)
		}
	}
	s.Client.Close()
	kill(s.dev) // the rest is in the write-ahead log
	files, err := filepath.Glob(s.File + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		stored[filepath.Base(name)] = data
	}
	total := 0
	for name, data := range stored {
		total += len(data)
		for i, text := range texts {
			for _, form := range forms(text) {
				if bytes.Contains(data, []byte(form)) {
					t.Errorf("%s contains text %d", name, i)
				}
			}
		}
	}
	if !bytes.Contains(stored["history"], []byte(base64.StdEncoding.EncodeToString([]byte(`{"Text":"` + ids[0].Text))[:8])) {
		t.Error("the history is not read: it does not contain an id")
	}
	t.Logf("searched %d bytes in %d files and %d histories", total, len(files), len(ids))
}

// forms returns a text as it may be stored: also in base64, at each of the three offsets.
func forms(text string) (all []string) {
	all = []string{text}
	for offset := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte("xxx"[:offset] + text))
		all = append(all, encoded[4*((offset+2)/3):len(encoded)-4])
	}
	return all
}

// TestForms: a text is found in base64, wherever it begins.
func TestForms(t *testing.T) {
	for offset := range 5 {
		stored := base64.StdEncoding.EncodeToString([]byte("{\"abcd"[:offset] + "tokSECRET" + "\"}"))
		found := slices.ContainsFunc(forms("tokSECRET"), func(form string) bool { return strings.Contains(stored, form) })
		if !found {
			t.Errorf("offset %d: %s is not found with %q", offset, stored, forms("tokSECRET"))
		}
	}
}
