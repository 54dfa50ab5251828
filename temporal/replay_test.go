package temporal

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

var record = flag.Bool("record", false, "record the histories in testdata; a change of a workflow that needs this must use workflow.GetVersion instead")

// TestReplay: the workflows go the same way through the histories that were recorded. A workflow that is running when the program
// is replaced depends on that.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != 3 {
		t.Fatalf("got %q, %v", files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflow(Settle)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet, name); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRecord records the histories for TestReplay, if it is asked to.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("skipped: no -record")
	}
	s := startServer(t)
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true, SettleAfter: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	url, db := database(t)
	exec1(t, db, `CREATE TABLE told (id TEXT PRIMARY KEY, state TEXT)`)
	startWorker(t, workerTask{Server: s.Address, Gateway: gateway.URL, Token: gateway.NewToken(sandbox.Approved), Database: url})
	gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, TransactionID: "lost", Reply: sandbox.ReplyClose})
	gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, TransactionID: "refused", Code: 401, Commit: sandbox.CommitNever})
	for _, name := range []string{"lost", "pending", "refused"} {
		id := journal.PaymentID(name)
		run, err := s.engine().Start(t.Context(), Settlement{ID: id, FirstQuery: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		switch name {
		case "pending":
			err = s.engine().Notified(t.Context(), id)
		case "refused":
			err = s.engine().SubmitAgain(t.Context(), id, 2)
		}
		if err != nil && name != "pending" {
			t.Fatal(err)
		}
		save(t, s, run, "settle-"+name)
	}
}

// save waits for the end of a workflow, and saves its history.
func save(t *testing.T, s *server, run client.WorkflowRun, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := run.Get(ctx, nil); err != nil {
		t.Fatal(err)
	}
	var all history.History
	events := s.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		all.Events = append(all.Events, event)
	}
	text, err := protojson.MarshalOptions{Indent: "\t"}.Marshal(&all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", name+".json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
