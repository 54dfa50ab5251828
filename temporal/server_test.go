package temporal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	_ "modernc.org/sqlite" // that of the development server's file

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

const (
	requireServer = "CARDGATEWAY_REQUIRE_TEMPORAL" // 1: fail where there is no server, instead of skipping the test
	workerEnv     = "CARDGATEWAY_TEMPORAL_WORKER"  // the task of a process that is a worker, as JSON
	queue         = "shop"
	byCard        = "card-"
	cardCode      = "0417" // the verification code of a card that is approved
)

func TestMain(m *testing.M) {
	if text := os.Getenv(workerEnv); text != "" {
		if err := runWorker(text); err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if err := pgserver.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// workerTask is what a worker process does.
type workerTask struct {
	Server   string  // of Temporal
	Gateway  string  // base URL
	Token    string  // of all payments but those whose id begins with byCard
	Database string  // of the journal and the reports
	Queries  float64 // Worker.QueriesPerSecond

	DiesBefore string // the worker kills itself before it sends the payment with this transactionId
	Failing    string // while this file exists, the merchant's functions fail
}

// merchant returns an error while the merchant's functions fail.
func (task *workerTask) merchant() error {
	if _, err := os.Stat(task.Failing); err == nil {
		return errors.New("the shop is down")
	}
	return nil
}

// runWorker is the main function of a worker process.
func runWorker(text string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var task workerTask
	if err := json.Unmarshal([]byte(text), &task); err != nil {
		return err
	}
	w := Worker{TaskQueue: queue, QueriesPerSecond: task.Queries}
	payments, closeDB, err := task.payments(ctx)
	if err != nil {
		return err
	}
	defer closeDB()
	w.Payments = payments
	// A worker ends if the server is down when it starts. Whatever runs it starts it again.
	for {
		err := task.work(ctx, w)
		if ctx.Err() != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "the worker starts again:", err)
		time.Sleep(time.Second)
	}
}

// work runs the worker until ctx or the worker ends.
func (task *workerTask) work(ctx context.Context, w Worker) error {
	c, err := dial(task.Server)
	if err != nil {
		return err
	}
	defer c.Close()
	return w.Run(ctx, c)
}

// payments returns payments with a journal in the database, and reports in the table told.
func (task *workerTask) payments(ctx context.Context) (*Payments, func(), error) {
	db, err := sql.Open("pgx", task.Database)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(20)
	store, err := sqlstore.New(ctx, db, sqlstore.Postgres)
	if err != nil {
		return nil, nil, err
	}
	config := configFor(task.Gateway)
	if task.DiesBefore != "" {
		config.HTTPClient = &http.Client{Transport: dying(task.DiesBefore)}
	}
	client, err := cardgateway.New(config)
	if err != nil {
		return nil, nil, err
	}
	p := &Payments{
		Client: client, Store: store,
		Submit: func(ctx context.Context, m Methods, id journal.ID) error {
			if err := task.merchant(); err != nil {
				return err
			}
			return pay(ctx, m, id, task.Token)
		},
		Report: func(ctx context.Context, e journal.Entry) error {
			if err := task.merchant(); err != nil {
				return err
			}
			_, err := db.ExecContext(ctx, `INSERT INTO told VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET state = excluded.state`,
				e.ID().String(), e.State().String())
			return err
		},
	}
	return p, func() { _ = db.Close() }, nil
}

// pay pays with the token, or by card if the id begins with byCard. The gateway approves a card at once.
func pay(ctx context.Context, m Methods, id journal.ID, token string) error {
	if strings.HasPrefix(id.Text, byCard) {
		card := clienttest.NewCard(sandbox.TestCard(sandbox.Approved).Number, cardCode)
		_, err := m.CreateSubscription(ctx, clienttest.SubscriptionRequest(id.Text, card))
		return err
	}
	_, err := m.TokenPayment(ctx, cardgateway.NewToken(token), clienttest.TokenPaymentRequest(id.Text))
	return err
}

// dying is a transport that kills the process before it sends the payment with this transactionId.
type dying string

func (before dying) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(text), fmt.Sprintf("%q", string(before))) {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func dial(address string) (client.Client, error) {
	return client.Dial(client.Options{HostPort: address, Logger: quiet, Identity: "test"})
}

var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// startWorker starts a process that is a worker. It is killed at the end of the test.
func startWorker(t testing.TB, task workerTask) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(task)
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	t.Cleanup(func() { kill(cmd) })
	return cmd
}

// kill ends a process with SIGKILL. It may have ended.
func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// server is a development server of Temporal that can be killed and started again.
type server struct {
	t       testing.TB
	path    string
	Address string
	File    string // its database
	dev     *exec.Cmd
	client.Client
}

// startServer starts a server. Without the command line of Temporal it skips the test, or fails it if there must be one.
func startServer(t testing.TB) *server {
	t.Helper()
	path, err := exec.LookPath("temporal")
	if err != nil {
		path, err = exec.LookPath(filepath.Join(build.Default.GOPATH, "bin", "temporal"))
	}
	switch {
	case err != nil && os.Getenv(requireServer) == "1":
		t.Fatalf("there is no command line of Temporal, and %s is 1: %v", requireServer, err)
	case err != nil:
		t.Skip("skipped: the command line of Temporal is not available on this machine: go install github.com/temporalio/cli/cmd/temporal@v1.5.1")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &server{t: t, path: path, Address: l.Addr().String(), File: filepath.Join(t.TempDir(), "temporal.db")}
	must(t, l.Close())
	s.start()
	t.Cleanup(func() {
		s.Client.Close()
		kill(s.dev)
	})
	return s
}

// start starts the server, with its database, and waits until it responds.
func (s *server) start() {
	s.t.Helper()
	host, port, _ := strings.Cut(s.Address, ":")
	s.dev = exec.Command(s.path, "server", "start-dev", "--headless", "--ip", host, "--port", port, "--db-filename", s.File, "--log-level", "error")
	if err := s.dev.Start(); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		c, err := dial(s.Address)
		if err == nil {
			if s.Client != nil {
				s.Client.Close()
			}
			s.Client = c
			return
		}
		if time.Now().After(end) {
			s.t.Fatal(err)
		}
	}
}

// restart kills the server and starts it again.
func (s *server) restart() {
	s.t.Helper()
	kill(s.dev)
	s.start()
}

func (s *server) engine() Engine { return Engine{Client: s.Client, TaskQueue: queue} }

// database creates a schema with the table of reports in the shared Postgres server, and returns its URL and a connection.
func database(t testing.TB) (string, *sql.DB) {
	t.Helper()
	name := fmt.Sprintf("t%d", time.Now().UnixNano())
	url := pgserver.Shared(t).URL(name)
	db, err := sql.Open("pgx", url)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	exec1(t, db, `CREATE SCHEMA `+name)
	exec1(t, db, createTold)
	return url, db
}

// createTold creates the table of what the workers have reported.
const createTold = `CREATE TABLE told (id TEXT PRIMARY KEY, state TEXT)`

func exec1(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// count returns the number that a statement selects.
func count(t testing.TB, db *sql.DB, statement string) (n int) {
	t.Helper()
	must(t, db.QueryRowContext(t.Context(), statement).Scan(&n))
	return n
}
