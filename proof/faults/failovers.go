package faults

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// Failing is a database of a journal that cannot be written for a while, again and again.
type Failing struct {
	Name  string
	Store *sqlstore.Store
	Fail  func() error // one failure; returns when another one is possible
	Stop  func() error
}

// readOnlyFor is how long a database that has no standby accepts no writes.
const readOnlyFor = time.Second

// FailingPostgres is a server that is killed, whereupon its synchronous standby is promoted, and a new standby made in its place.
func FailingPostgres() (_ *Failing, err error) {
	var servers [2]*pgserver.Server
	var stops []func() error
	stop := func() (err error) {
		for _, s := range slices.Backward(stops) {
			err = errors.Join(err, s())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	hosts := make([]string, 2)
	for i := range servers {
		if servers[i], err = pgserver.Start(); err != nil {
			return nil, err
		}
		stops = append(stops, servers[i].Stop)
		u, err := url.Parse(servers[i].URL(""))
		if err != nil {
			return nil, err
		}
		hosts[i] = u.Query().Get("host")
	}
	if err := servers[1].Follow(servers[0]); err != nil {
		return nil, err
	}
	source := "postgres:///postgres?user=t&target_session_attrs=read-write&host=" + strings.Join(hosts, ",")
	store, closeStore, err := database{"pgx", source, sqlstore.Postgres}.openStore(background)
	if err != nil {
		return nil, err
	}
	stops = append(stops, closeStore)
	return &Failing{"Postgres, standby promoted", store, func() error {
		_ = servers[0].Kill() // it was killed
		if err := servers[1].Promote(); err != nil {
			return err
		}
		servers[0], servers[1] = servers[1], servers[0]
		return servers[1].Follow(servers[0])
	}, stop}, nil
}

// FailingMySQL is a server that is read-only for a while, and the next time killed and started again.
func FailingMySQL() (_ *Failing, err error) {
	if err := mysql.SetLogger(log.New(io.Discard, "", 0)); err != nil { // it would write of each connection that ends
		return nil, err
	}
	server, err := mysqlserver.Start()
	if err != nil {
		return nil, err
	}
	stop := server.Stop
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	execute := func(statements ...string) (err error) {
		db, err := sql.Open("mysql", server.DSN(""))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				return err
			}
		}
		return nil
	}
	if err := execute("CREATE DATABASE shop", "CREATE USER cashier@localhost", "GRANT ALL ON shop.* TO cashier@localhost"); err != nil { // not root, which may always write
		return nil, err
	}
	store, closeStore, err := database{"mysql", strings.Replace(server.DSN("shop"), "root@", "cashier@", 1), sqlstore.MySQL}.openStore(background)
	if err != nil {
		return nil, err
	}
	stop = func() error { return errors.Join(closeStore(), server.Stop()) }
	failures := 0
	return &Failing{"MariaDB, read-only or restarted", store, func() error {
		if failures++; failures%2 == 0 {
			return errors.Join(server.Kill(), server.Restart())
		}
		if err := execute("SET GLOBAL read_only = 1"); err != nil {
			return err
		}
		time.Sleep(readOnlyFor)
		return execute("SET GLOBAL read_only = 0")
	}, stop}, nil
}

// FailoverRun makes payments while the database of the journal fails again and again. A call that sent nothing is repeated with the same id.
type FailoverRun struct {
	Mix
	*Failing
	Every time.Duration // between two failures
}

// FailoverResult is the result of a FailoverRun.
type FailoverResult struct {
	*Row
	Failed int             // how often the database has
	Gaps   []time.Duration // from each failure until a payment that began after it was recorded and sent, if there was one; sorted
}

// Run makes the payments.
func (r FailoverRun) Run() (*FailoverResult, error) {
	d := &failing{failing: r.Failing, every: r.Every, stop: make(chan struct{})}
	d.end = sync.OnceFunc(func() {
		close(d.stop)
		d.all.Wait()
	})
	row, err := r.Mix.Run(func(s *site) (design Design, err error) {
		d.Design, err = JournalOver(r.Name, r.Store)(s)
		d.all.Go(d.fail)
		return d, err
	})
	d.end()
	if err = errors.Join(err, d.failed); err != nil {
		return nil, err
	}
	slices.Sort(d.gaps)
	return &FailoverResult{row, d.failures, d.gaps}, nil
}

// failing pays while its database fails.
type failing struct {
	Design
	failing *Failing
	every   time.Duration
	all     sync.WaitGroup
	end     func()
	stop    chan struct{}
	failed  error

	failures int

	mu   sync.Mutex
	last time.Time // the last failure, after which nobody has paid
	gaps []time.Duration
}

// fail lets the database fail until stop is closed.
func (d *failing) fail() {
	for d.failed == nil {
		select {
		case <-d.stop:
			return
		case <-time.After(d.every):
		}
		d.mu.Lock()
		d.last = time.Now()
		d.mu.Unlock()
		d.failed = d.failing.Fail()
		d.failures++
	}
}

// maxCalls is how often a call is made that sends nothing: each ends after two seconds while the database fails.
const maxCalls = 30

// Make repeats a call until it has sent something.
func (d *failing) Make(ctx context.Context, m movement) (v Verdict) {
	for range maxCalls {
		begun := time.Now()
		if v = d.Design.Make(ctx, m); v != NotSent {
			d.mu.Lock()
			if !d.last.IsZero() && begun.After(d.last) {
				d.gaps, d.last = append(d.gaps, time.Since(d.last)), time.Time{}
			}
			d.mu.Unlock()
			break
		}
	}
	return v
}

// Finish waits until the database fails no more.
func (d *failing) Finish(ctx context.Context, all []movement, verdicts []Verdict) {
	d.end()
	d.Design.Finish(ctx, all, verdicts)
}

// failoverTable returns the results as a table.
func failoverTable(results []*FailoverResult) string {
	const head = "Journal|Payments|Failures|Charged twice|Forgotten|Reported wrong|Open at the end|Nobody could pay, median|worst"
	return table(head, results, func(r *FailoverResult) []any {
		median, worst := medianAndWorst(r.Gaps)
		return []any{r.Design, r.Payments, len(r.Gaps), r.Twice, r.Forgotten(), r.Wrong, r.Open(), median, worst}
	})
}
