package temporal

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestOutages: two of the worker, the journal's database, Temporal and the merchant's functions are down together, while the gateway makes one
// payment, and when another one is begun. Both are made once, and reported.
func TestOutages(t *testing.T) {
	s := startServer(t)
	gateway := startReceiving(t)
	gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Times: -1, After: time.Second})
	postgres := pgserver.Own(t)
	db, err := sql.Open("pgx", postgres.URL("public"))
	must(t, err)
	defer func() { _ = db.Close() }()
	db.SetMaxIdleConns(-1) // the server ends all connections
	exec1(t, db, createTold)
	task := workerTask{
		Server: s.Address, Gateway: gateway.url, Token: gateway.NewToken(sandbox.Approved), Database: postgres.URL("public"), Queries: 500,
		Failing: filepath.Join(t.TempDir(), "failing"),
	}
	var worker *exec.Cmd
	type part struct {
		name       string
		fail, back func()
	}
	// In this order they come back: a worker does not start without its database.
	database := part{"database", func() { _ = postgres.Kill() }, func() { must(t, postgres.Restart()) }}
	engine := part{"Temporal", func() { kill(s.dev) }, func() { s.start() }}
	merchant := part{"merchant", func() { must(t, os.WriteFile(task.Failing, nil, 0o600)) }, func() { must(t, os.Remove(task.Failing)) }}
	process := part{"worker", func() { kill(worker) }, func() { worker = startWorker(t, task) }}
	process.back()
	for _, pair := range [][2]part{
		{database, engine}, {database, merchant}, {database, process}, {engine, merchant}, {engine, process}, {merchant, process},
	} {
		name := pair[0].name + " and " + pair[1].name
		start := func(id journal.ID) {
			t.Helper()
			_, err := s.engine().Start(t.Context(), Settlement{ID: id, FirstQuery: time.Second})
			must(t, err)
		}
		sent, begun := journal.PaymentID("sent, "+name), journal.PaymentID("begun, "+name)
		start(sent)
		for end := time.Now().Add(time.Minute); !gateway.received(sent.Text); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: not sent before the outage", name)
			}
		}
		pair[0].fail()
		pair[1].fail()
		if pair[0].name != engine.name && pair[1].name != engine.name {
			start(begun)
		}
		time.Sleep(3 * time.Second) // the gateway answers meanwhile, and queries fail
		pair[0].back()
		pair[1].back()
		if pair[0].name == engine.name || pair[1].name == engine.name {
			start(begun)
		}
		for _, id := range []journal.ID{sent, begun} {
			for end := time.Now().Add(2 * time.Minute); reports(t, db)[id.Text] != "succeeded" && time.Now().Before(end); {
				time.Sleep(100 * time.Millisecond)
			}
			if told, n := reports(t, db)[id.Text], gateway.Executed(id.Text); told != "succeeded" || n != 1 {
				t.Errorf("%s: %d charges, and told %q, want one success", id.Text, n, told)
			}
		}
	}
	if left := count(t, db, `SELECT count(*) FROM cardgateway_journal WHERE unacked`); left != 0 {
		t.Errorf("%d entries are not acknowledged", left)
	}
}
