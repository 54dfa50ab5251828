package temporal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestReconcile goes through the workflow, with activities that only write down what they were asked for.
func TestReconcile(t *testing.T) {
	from := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for _, test := range []struct {
		name     string
		in       ReconcileOptions
		complete time.Time
		now      time.Time
		fails    int // the window whose activity fails for good
		windows  int
		want     string // the activities after the windows
		most     int    // at the same time
	}{
		{"new", ReconcileOptions{From: from}, from, from.Add(365 * day), -1, 11, "merge sync", 4},
		{"up to date", ReconcileOptions{From: from}, from.Add(364 * day), from.Add(365 * day), -1, 0, "sync", 0},
		{"a gap of two windows", ReconcileOptions{Window: day}, from, from.Add(2*day + 2*time.Hour), -1, 2, "merge sync", 2},
		{"the last hour is left to the sync", ReconcileOptions{Window: day}, from, from.Add(2*day + time.Minute), -1, 1, "merge sync", 1},
		{"one at a time", ReconcileOptions{Window: day, Parallel: 1}, from, from.Add(10 * day), -1, 9, "merge sync", 1},
		{"more than one run copies", ReconcileOptions{Window: time.Hour}, from, from.Add(10 * day), -1, 100, "merge again", 4},
		{"one window fails", ReconcileOptions{Window: day}, from, from.Add(10*day + 2*time.Hour), 3, 10, "", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := newEnv()
			env.SetStartTime(test.now)
			env.RegisterWorkflow(Reconcile)
			var mu sync.Mutex
			var windows []span
			var then []string
			running, most := 0, 0
			register := func(name string, f any) { env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name}) }
			register(completeName, func(context.Context, time.Time) (time.Time, error) { return test.complete, nil })
			register(windowName, func(_ context.Context, w span) error {
				mu.Lock()
				windows = append(windows, w)
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				running--
				if test.fails >= 0 && w.Start.Equal(test.complete.Add(time.Duration(test.fails)*test.in.Window)) {
					return refused(&books.Refused{Why: "wrong"})
				}
				return nil
			})
			register(mergeName, func(_ context.Context, all []span) error {
				then = append(then, "merge")
				for i := 1; i < len(all); i++ {
					if !all[i].Start.Equal(all[i-1].End) {
						t.Errorf("window %d begins at %v, and the one before ends at %v", i, all[i].Start, all[i-1].End)
					}
				}
				return nil
			})
			register(syncName, func(context.Context, span) error {
				then = append(then, "sync")
				return nil
			})
			env.ExecuteWorkflow(Reconcile, test.in)
			err := env.GetWorkflowError()
			if _, ok := errors.AsType[*workflow.ContinueAsNewError](err); ok {
				then = append(then, "again")
			} else if (err != nil) != (test.fails >= 0) {
				t.Fatal(err)
			}
			if got := strings.Join(then, " "); got != test.want || len(windows) != test.windows || most > test.most {
				t.Errorf("got %d windows, %d at the same time, %q; want %d, %d, %q", len(windows), most, got, test.windows, test.most, test.want)
			}
			for _, w := range windows {
				if w.RequestsPerSecond*float64(test.in.withDefaults().Parallel) != 10 {
					t.Errorf("got %v requests a second for one of %d windows", w.RequestsPerSecond, test.in.withDefaults().Parallel)
				}
			}
		})
	}
}

// TestReconciliationInvalid: only Postgres will do, and the message does not contain the URL.
func TestReconciliationInvalid(t *testing.T) {
	for _, name := range []string{"", "books.db", "mysql://u:secret@host/db", "postgres://u:sec ret@host\x7f/db"} {
		t.Run(name, func(t *testing.T) {
			_, err := newReconciliation(Reconciliation{Config: configFor("http://127.0.0.1:1"), Database: name})
			if err == nil || strings.Contains(err.Error(), "sec") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// counted is a proxy in front of a gateway that writes down each search.
type counted struct {
	*httptest.Server
	mu       sync.Mutex
	searches []search
}

type search struct {
	at         time.Time
	path       string
	start, end string
}

// countSearches starts a proxy in front of a gateway that takes so long for each request.
func countSearches(t testing.TB, gateway string, latency time.Duration) *counted {
	t.Helper()
	target, err := url.Parse(gateway)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	c := &counted{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		c.mu.Lock()
		c.searches = append(c.searches, search{time.Now(), r.URL.Path, q.Get("startDate"), q.Get("endingDate")})
		c.mu.Unlock()
		time.Sleep(latency)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *counted) all() []search {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.searches)
}

// mostIn returns how many searches there were in the busiest interval of this length.
func (c *counted) mostIn(interval time.Duration) (most int) {
	all := c.all()
	all = slices.DeleteFunc(all, func(s search) bool { return !strings.HasPrefix(s.path, "/search/") })
	slices.SortFunc(all, func(a, b search) int { return a.at.Compare(b.at) })
	begin := 0
	for i := range all {
		for all[i].at.Sub(all[begin].at) > interval {
			begin++
		}
		most = max(most, i-begin+1)
	}
	return most
}

// meanOfLast returns how many searches a second there were in the last interval of this length.
func (c *counted) meanOfLast(interval time.Duration) float64 {
	n := 0
	for _, s := range c.all() {
		if strings.HasPrefix(s.path, "/search/") && time.Since(s.at) < interval {
			n++
		}
	}
	return float64(n) / interval.Seconds()
}

// reconcile runs the workflow to its end.
func reconcile(t testing.TB, s *server, o ReconcileOptions, during func(running client.WorkflowRun)) time.Duration {
	t.Helper()
	begun := time.Now()
	run, err := s.engine().Reconcile(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if during != nil {
		during(run)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := run.Get(ctx, nil); err != nil {
		t.Fatal(err)
	}
	return time.Since(begun)
}

// TestKilledWalk copies a year while one of two workers is killed. Every row is in Postgres once, and only the windows that the
// killed worker had begun were read again, from where it had saved them.
func TestKilledWalk(t *testing.T) {
	s := startServer(t)
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	rows := 200_000
	if testing.Short() {
		rows /= 10
	}
	to := time.Now().Truncate(time.Second)
	from := to.AddDate(-1, 0, 0)
	gateway.Seed(rows, from, to)
	proxy := countSearches(t, gateway.URL, 20*time.Millisecond)
	database, db := database(t)
	task := workerTask{Server: s.Address, Gateway: proxy.URL, Database: database, Walks: true}
	first := startWorker(t, task)
	var killed time.Time
	took := reconcile(t, s, ReconcileOptions{From: from, Parallel: 4, RequestsPerSecond: 1000}, func(client.WorkflowRun) {
		startWorker(t, task)
		for len(proxy.all()) < rows/999/2 {
			time.Sleep(10 * time.Millisecond)
		}
		kill(first)
		killed = time.Now()
	})
	orders, refunds := count(t, db, `SELECT count(*) FROM cardgateway_orders`), count(t, db, `SELECT count(*) FROM cardgateway_refunds`)
	if orders != rows || refunds != rows/10 {
		t.Errorf("got %d orders and %d refunds, want %d and %d", orders, refunds, rows, rows/10)
	}
	if left := count(t, db, `SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE '%_window_%'`); left != 0 {
		t.Errorf("%d schemas of windows are left", left)
	}
	if again := proxy.again(from, killed); len(again) > 4 {
		t.Errorf("the windows %v were read before the worker was killed and afterwards, want at most 4", again)
	}
	b, err := books.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	info, err := b.Info(t.Context())
	if err != nil || time.Since(info.CompleteUpTo) > 30*time.Minute || !info.Since.Equal(from) {
		t.Errorf("got %+v, %v", info, err)
	}
	changes := count(t, db, `SELECT count(*) FROM cardgateway_changes`)
	if changes != 0 {
		t.Errorf("got %d changes, want none", changes)
	}
	t.Logf("%d orders and %d refunds in %v with %d requests, one of two workers killed; windows read before and after: %v",
		orders, refunds, took, len(proxy.all()), proxy.again(from, killed))
}

// again returns the windows that were read before a time and after it. The last one is left out: the sync reads it again.
func (c *counted) again(from, at time.Time) (windows []int) {
	var before, after [11]bool
	for _, s := range c.all() {
		start, err := time.ParseInLocation(time.DateTime, s.start, time.FixedZone("", 8*60*60))
		window := int((start.Sub(from) + 2*time.Second) / (31 * 24 * time.Hour)) // windows overlap by two seconds
		if err == nil && window >= 0 && window < len(before)-1 {
			before[window] = before[window] || s.at.Before(at)
			after[window] = after[window] || s.at.After(at)
		}
	}
	for i := range before {
		if before[i] && after[i] {
			windows = append(windows, i)
		}
	}
	return windows
}

// TestSchedule: Temporal starts the workflow at the times of the schedule, unless the last run has not ended. A run that is started
// beside it does no harm.
func TestSchedule(t *testing.T) {
	s := startServer(t)
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	const rows = 3000
	to := time.Now().Truncate(time.Second)
	from := to.AddDate(0, 0, -10)
	gateway.Seed(rows, from, to)
	proxy := countSearches(t, gateway.URL, 200*time.Millisecond)
	database, db := database(t)
	startWorker(t, workerTask{Server: s.Address, Gateway: proxy.URL, Database: database, Walks: true})
	o := ReconcileOptions{From: from, Window: 24 * time.Hour, RequestsPerSecond: 1000}
	every := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Second}}}
	schedule, err := s.engine().ScheduleReconcile(t.Context(), o, every)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.engine().ScheduleReconcile(t.Context(), o, every); err == nil {
		t.Error("a second schedule of the shop was made")
	}
	for len(proxy.all()) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	reconcile(t, s, o, nil)
	var runs []client.ScheduleActionResult
	for end := time.Now().Add(2 * time.Minute); len(runs) < 3; time.Sleep(100 * time.Millisecond) {
		described, err := schedule.Describe(t.Context())
		if err != nil || time.Now().After(end) {
			t.Fatalf("got %d runs, want 3: %v", len(runs), err)
		}
		if runs = described.Info.RecentActions; len(runs) >= 3 && described.Info.NumActionsSkippedOverlap == 0 {
			t.Error("no start was skipped, although a run takes longer than the interval")
		}
	}
	if err := schedule.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ended time.Time
	for i, run := range runs {
		id, runID := run.StartWorkflowResult.WorkflowID, run.StartWorkflowResult.FirstExecutionRunID
		if err := s.GetWorkflow(t.Context(), id, runID).Get(t.Context(), nil); err != nil {
			t.Errorf("run %d: %v", i+1, err)
		}
		described, err := s.DescribeWorkflowExecution(t.Context(), id, runID)
		if err != nil {
			t.Fatal(err)
		}
		info := described.WorkflowExecutionInfo
		if info.StartTime.AsTime().Before(ended) {
			t.Errorf("run %d began before the one before it had ended", i+1)
		}
		ended = info.CloseTime.AsTime()
	}
	if orders, refunds := count(t, db, `SELECT count(*) FROM cardgateway_orders`), count(t, db, `SELECT count(*) FROM cardgateway_refunds`); orders != rows ||
		refunds != rows/10 {
		t.Errorf("got %d orders and %d refunds, want %d and %d", orders, refunds, rows, rows/10)
	}
	if left := count(t, db, `SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE '%_window_%'`); left != 0 {
		t.Errorf("%d schemas of windows are left", left)
	}
}

// TestRateOfWalks: whatever the number of workers, the gateway gets no more requests than it should.
func TestRateOfWalks(t *testing.T) {
	s := startServer(t)
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true, MaxPageSize: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	to := time.Now().Truncate(time.Second)
	gateway.Seed(10_000, to.AddDate(0, -6, 0), to)
	proxy := countSearches(t, gateway.URL, 0)
	database, _ := database(t)
	task := workerTask{Server: s.Address, Gateway: proxy.URL, Database: database, Walks: true}
	for range 3 {
		startWorker(t, task)
	}
	const limit = 20
	took := reconcile(t, s, ReconcileOptions{From: to.AddDate(0, -6, 0), Parallel: 5, RequestsPerSecond: limit}, func(running client.WorkflowRun) {
		waitForProgress(t, s, running)
	})
	most := proxy.mostIn(5 * time.Second)
	t.Logf("three workers: %d requests in %v, at most %.1f a second over 5 s, with a limit of %d", len(proxy.all()), took, float64(most)/5, limit)
	if most > 5*limit+5 { // each of the five windows may begin with one request at once
		t.Errorf("got %d requests in 5 s, want at most %d", most, 5*limit+5)
	}
}

// waitForProgress waits until Temporal shows how many rows the reading of a window has brought so far.
func waitForProgress(t *testing.T, s *server, run client.WorkflowRun) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		described, err := s.DescribeWorkflowExecution(t.Context(), run.GetID(), run.GetRunID())
		if err != nil {
			t.Fatal(err)
		}
		for _, pending := range described.PendingActivities {
			var p cardgateway.Progress
			if pending.HeartbeatDetails == nil {
				continue
			}
			if err := converter.GetDefaultDataConverter().FromPayloads(pending.HeartbeatDetails, &p); err != nil {
				t.Fatal(err)
			}
			if p.Rows > 0 {
				return
			}
		}
	}
	t.Error("no heartbeat showed progress")
}

// TestRateOfQueries: Temporal limits the queries for single payments over all workers together.
func TestRateOfQueries(t *testing.T) {
	s := startServer(t)
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true, SettleAfter: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	proxy := countSearches(t, gateway.URL, 0)
	database, db := database(t)
	exec1(t, db, `CREATE TABLE told (id TEXT PRIMARY KEY, state TEXT)`)
	const limit = 2
	task := workerTask{Server: s.Address, Gateway: proxy.URL, Token: gateway.NewToken(sandbox.Approved), Database: database, Queries: limit}
	for range 3 {
		startWorker(t, task)
	}
	for i := range 30 {
		if _, err := s.engine().Start(t.Context(), Settlement{ID: journal.PaymentID(fmt.Sprintf("t-%d", i)), FirstQuery: time.Second}); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(6 * time.Second)
	most, mean := proxy.mostIn(5*time.Second), proxy.meanOfLast(5*time.Second)
	t.Logf("three workers, 30 payments that ask every second, a limit of %d a second: at most %.1f a second over 5 s, %.1f at the end",
		limit, float64(most)/5, mean)
	if most > 5*limit+4 { // the server lets some begin at once
		t.Errorf("got %d queries in 5 s, want at most %d", most, 5*limit+4)
	}
}

// BenchmarkWalk measures how much faster four workers are than one, with a gateway that takes 50 ms for each request.
func BenchmarkWalk(b *testing.B) {
	for _, test := range []struct{ workers, page, rows int }{{1, 999, 200_000}, {4, 999, 200_000}, {1, 100, 50_000}, {4, 100, 50_000}} {
		b.Run(fmt.Sprintf("rows=%d/page=%d/workers=%d", test.rows, test.page, test.workers), func(b *testing.B) {
			s := startServer(b)
			gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true, MaxPageSize: test.page})
			if err != nil {
				b.Fatal(err)
			}
			defer gateway.Close()
			to := time.Now().Truncate(time.Second)
			from := to.AddDate(-1, 0, 0)
			gateway.Seed(test.rows, from, to)
			proxy := countSearches(b, gateway.URL, 50*time.Millisecond)
			database, db := database(b)
			for range test.workers {
				startWorker(b, workerTask{Server: s.Address, Gateway: proxy.URL, Database: database, Walks: true})
			}
			for b.Loop() {
				reconcile(b, s, ReconcileOptions{From: from, Parallel: test.workers, RequestsPerSecond: 1000}, nil)
			}
			orders := count(b, db, `SELECT count(*) FROM cardgateway_orders`)
			if orders != test.rows {
				b.Errorf("got %d orders", orders)
			}
			size := count(b, db, `SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`)
			b.ReportMetric(float64(size)/float64(orders), "stored-B/order")
			b.ReportMetric(float64(orders)/b.Elapsed().Seconds(), "orders/s")
			b.ReportMetric(float64(len(proxy.all())), "requests")
		})
	}
}

// TestWindowContinues: an attempt that failed after the orders, and before the refunds, is continued by the next one, which reads
// only the last two days of the orders again. What an earlier run of the workflow has left is not continued: it may be old.
func TestWindowContinues(t *testing.T) {
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	const window = 10 * 24 * time.Hour
	to := time.Now().Add(-24 * time.Hour).Truncate(time.Second)
	from := to.Add(-2 * window)
	gateway.Seed(3000, from, time.Now())
	proxy := countSearches(t, gateway.URL, 0)
	database, db := database(t)
	config := configFor(proxy.URL)
	config.Retry.MaxAttempts = 1
	r, err := newReconciliation(Reconciliation{Config: config, Database: database})
	if err != nil {
		t.Fatal(err)
	}
	windows := []span{{from, from.Add(window), 1000}, {from.Add(window), to, 1000}}
	run := func(attempts int32, merges bool) error {
		env := newEnv()
		r.register(env)
		env.ExecuteWorkflow(func(ctx workflow.Context) error {
			ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
				StartToCloseTimeout: time.Minute, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: attempts},
			})
			for _, w := range windows {
				if err := workflow.ExecuteActivity(ctx, windowName, w).Get(ctx, nil); err != nil {
					return err
				}
			}
			for range 2 { // the second time as if the first result had been lost
				if !merges {
					return nil
				}
				if err := workflow.ExecuteActivity(ctx, mergeName, windows).Get(ctx, nil); err != nil {
					return err
				}
			}
			return nil
		})
		return env.GetWorkflowError()
	}
	failing := sandbox.Fault{Operation: sandbox.OpSearchRefunds, Commit: sandbox.CommitNever, Status: 500}

	gateway.Inject(failing)
	if run(1, false) == nil {
		t.Fatal("got no error of the earlier run")
	}
	var left string
	if err := db.QueryRowContext(t.Context(), `SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE '%_window_%'`).Scan(&left); err != nil {
		t.Fatal(err)
	}
	exec1(t, db, `INSERT INTO `+left+`.cardgateway_orders SELECT 'old' || id, unique_id, transaction_id, state, code, amount, currency, at, card, other_app,
		test, walk FROM `+left+`.cardgateway_orders LIMIT 1`)
	earlier := len(proxy.all())
	gateway.Inject(failing)
	if err := run(10, false); err != nil {
		t.Fatal(err)
	}
	wantContinued(t, proxy.all()[earlier:], windows)
	read := len(proxy.all())
	want := len(slices.Collect(gateway.OrderIDs(from, to)))
	for i := range 2 { // the second run finds that everything is done
		if err := run(10, true); err != nil {
			t.Fatal(err)
		}
		if again := len(proxy.all()) - read; i == 0 && again != 0 {
			t.Errorf("got %d more requests for windows that had been read, want none", again)
		}
		orders := count(t, db, `SELECT count(*) FROM cardgateway_orders WHERE at < `+fmt.Sprint(to.UnixMicro()))
		if refunds := count(t, db, `SELECT count(*) FROM cardgateway_refunds`); orders != want || refunds < want/11 {
			t.Errorf("got %d orders and %d refunds, want %d orders", orders, refunds, want)
		}
		if schemas := count(t, db, `SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE '%_window_%'`); schemas != 0 {
			t.Errorf("got %d schemas of windows, want none", schemas)
		}
	}
}

// TestStartMissing: a new copy needs a start, and Temporal does not try again without one.
func TestStartMissing(t *testing.T) {
	database, _ := database(t)
	r, err := newReconciliation(Reconciliation{Config: configFor("http://127.0.0.1:1"), Database: database})
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet)
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(r.completeUpTo)
	_, err = env.ExecuteActivity(r.completeUpTo, time.Time{})
	if failed, ok := errors.AsType[*sdk.ApplicationError](err); !ok || !failed.NonRetryable() || !strings.Contains(failed.Error(), "From is not set") {
		t.Errorf("got %v, want that From is not set", err)
	}
}

// wantContinued fails the test if more than two days of the orders of a window were read after its refunds.
func wantContinued(t *testing.T, all []search, windows []span) {
	t.Helper()
	refunds := map[int]bool{} // the windows whose refunds were read
	for _, s := range all {
		start, err := time.ParseInLocation(time.DateTime, s.start, cardgateway.DefaultLocation())
		if err != nil {
			t.Fatal(err)
		}
		start = start.Add(2 * time.Second) // windows overlap
		for i, w := range windows {
			switch {
			case start.Before(w.Start) || !start.Before(w.End):
			case s.path == "/search/list/refund":
				refunds[i] = true
			case refunds[i] && start.Before(w.End.Add(-49*time.Hour)):
				t.Errorf("window %d: the orders from %v were read again", i, start)
			}
		}
	}
	if len(refunds) != len(windows) {
		t.Errorf("got the refunds of %d windows, want those of %d", len(refunds), len(windows))
	}
}
