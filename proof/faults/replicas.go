package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// ReplicasRun makes payments in several processes that all call Journal.Run, over connections that break. Every few seconds one
// of them is killed and started again, or stopped for 5 to 15 seconds.
type ReplicasRun struct {
	Store    string // see OpenStore
	Replicas int
	Payments int
	Rate     int // payments per second of all processes together
	Seed     uint64
	Every    time.Duration // between two kills or stops
}

// ReplicasResult is the result of a ReplicasRun.
type ReplicasResult struct {
	KillResult // and what became of the payments

	Replicas int
	Stops    int
	Reports  int             // calls of the function that Run receives
	Overlaps int             // reports that had not returned when another process began one
	Stopped  int             // of these, those in which one of the two processes was stopped
	Gaps     []time.Duration // from the kill or the stop of the process that worked until another one worked; sorted
}

// Run makes the payments.
func (r ReplicasRun) Run() (*ReplicasResult, error) {
	g := sandbox.New(sandbox.Options{Duplicates: sandbox.DuplicatesExecuted, NoNotifications: true, Seed: r.Seed})
	defer g.Close()
	front := NewFront(g, FrontOptions{Seed: r.Seed, PaymentShare: 0.3, QueryShare: 0.1})
	defer front.Close()
	t := task{
		Role: "replica", Store: r.Store, URL: front.URL, Tokens: storedCards(g), Patience: patience, Seed: r.Seed, Payments: r.Payments,
		Replicas: r.Replicas, Pause: time.Second * time.Duration(r.Replicas*replicaCallers) / time.Duration(r.Rate),
	}
	all := &replicas{run: r, books: make(map[string]Verdict), working: -1}
	for i := range r.Replicas {
		all.processes = append(all.processes, &replica{number: i, task: t})
		all.processes[i].task.Next = i
		if err := all.start(i); err != nil {
			return nil, errors.Join(err, all.stop())
		}
	}
	failed := all.disturb()
	if err := errors.Join(failed, all.stop()); err != nil {
		return nil, err
	}
	result := &ReplicasResult{
		KillResult: KillResult{Kind: storeKind(r.Store), Kills: all.kills},
		Replicas:   r.Replicas, Stops: all.stops, Reports: len(all.reports), Gaps: all.gaps,
	}
	if err := result.settle(&t, g, front, all.books); err != nil {
		return nil, err
	}
	result.Overlaps, result.Stopped = all.overlaps()
	slices.Sort(result.Gaps)
	return result, nil
}

// replicas is the processes of a run, and what they have written.
type replicas struct {
	run       ReplicasRun
	processes []*replica
	readers   sync.WaitGroup

	mu      sync.Mutex
	books   map[string]Verdict
	reports []*report
	working int       // the process that works, or -1
	leftAt  time.Time // when the process that worked was killed or stopped; zero if one works
	gaps    []time.Duration
	kills   int
	stops   int
	failed  error
}

// replica is one process, over all its lives.
type replica struct {
	number  int
	task    task
	child   *child
	ended   chan struct{} // its output has been read
	paid    bool          // all its payments
	stopped []period
	dies    bool // it is killed, or asked to end
}

type period struct{ from, to time.Time }

// report is one call of the function that Run receives.
type report struct {
	process int
	period
}

// start starts a process, and reads what it writes.
func (a *replicas) start(i int) error {
	p := a.processes[i]
	a.mu.Lock()
	t := p.task
	p.dies = false
	a.mu.Unlock()
	c, err := startChild(&t)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	p.child, p.ended = c, ended
	a.readers.Go(func() {
		defer close(ended)
		a.read(p, c)
	})
	return nil
}

// read reads what a process writes until it ends.
func (a *replicas) read(p *replica, c *child) {
	var current *report
	for {
		word, rest, ok := c.next()
		if !ok {
			break
		}
		text, at, _ := strings.Cut(rest, " ")
		nanos, _ := strconv.ParseInt(at, 10, 64) // written by this program, as all of the following
		a.mu.Lock()
		switch word {
		case "begin":
			n, _ := strconv.Atoi(text)
			p.task.Next = n + a.run.Replicas
		case "told":
			if v := Verdict(at); a.books[text] == "" || v != Unknown && v != Pending { // only forward: a stopped process can be late
				a.books[text] = v
			}
		case "reports":
			current = &report{p.number, period{from: time.Unix(0, nanos)}}
			a.reports = append(a.reports, current)
			a.works(p, time.Unix(0, nanos))
		case "reported":
			current.to = time.Unix(0, nanos)
			current = nil
		case "works":
			a.works(p, time.Unix(0, nanos))
		case "paid":
			p.paid = true
		}
		a.mu.Unlock()
	}
	err := c.cmd.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if current != nil { // it was killed meanwhile
		current.to = time.Now()
	}
	if err != nil && !p.dies {
		a.failed = errors.Join(a.failed, fmt.Errorf("faults: a replica has ended: %w", err))
	}
}

// works remembers which process works, and for how long none did. The caller holds mu.
func (a *replicas) works(p *replica, now time.Time) {
	if a.working == p.number || now.Before(a.leftAt) {
		return
	}
	if !a.leftAt.IsZero() {
		a.gaps = append(a.gaps, now.Sub(a.leftAt))
	}
	a.working, a.leftAt = p.number, time.Time{}
}

// leaves remembers that a process is killed or stopped now.
func (a *replicas) leaves(p *replica, dies bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.dies = dies
	if a.working == p.number && a.leftAt.IsZero() {
		a.leftAt, a.working = time.Now(), -1
	}
}

// disturb kills and stops processes until all payments are made.
func (a *replicas) disturb() error {
	chance := rand.New(rand.NewPCG(a.run.Seed, 3))
	for !a.done() {
		time.Sleep(a.run.Every/2 + time.Duration(chance.Int64N(int64(a.run.Every))))
		p := a.processes[chance.IntN(len(a.processes))]
		a.mu.Lock()
		if chance.IntN(3) > 0 && a.working >= 0 { // rather the one that works
			p = a.processes[a.working]
		}
		failed := a.failed
		a.mu.Unlock()
		if failed != nil {
			return failed
		}
		if stopSignal != nil && chance.IntN(2) == 0 {
			from := time.Now()
			a.leaves(p, false)
			if err := p.child.cmd.Process.Signal(stopSignal); err != nil {
				return err
			}
			time.Sleep(5*time.Second + time.Duration(chance.Int64N(int64(10*time.Second))))
			a.mu.Lock()
			a.stops++
			p.stopped = append(p.stopped, period{from, time.Now()})
			a.mu.Unlock()
			if err := p.child.cmd.Process.Signal(continueSignal); err != nil {
				return err
			}
			continue
		}
		a.leaves(p, true)
		if err := p.child.cmd.Process.Kill(); err != nil {
			return err
		}
		<-p.ended
		a.kills++
		time.Sleep(time.Duration(chance.Int64N(int64(2 * time.Second))))
		if err := a.start(p.number); err != nil {
			return err
		}
	}
	time.Sleep(3 * time.Second) // what is known by then is reported
	return nil
}

// done reports whether all payments have been made and something was disturbed.
func (a *replicas) done() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kills+a.stops >= 2 && !slices.ContainsFunc(a.processes, func(p *replica) bool { return !p.paid })
}

// stop ends all processes.
func (a *replicas) stop() error {
	for _, p := range a.processes {
		if p.child != nil {
			a.mu.Lock()
			p.dies = true
			a.mu.Unlock()
			_ = p.child.cmd.Process.Signal(syscall.SIGTERM)
			late := time.AfterFunc(time.Minute, func() { _ = p.child.cmd.Process.Kill() })
			<-p.ended
			late.Stop()
		}
	}
	a.readers.Wait()
	return a.failed
}

// overlaps returns how many reports had not returned when another process began one, and in how many of these the process was stopped:
// during the report, or just before it wrote that it begins.
func (a *replicas) overlaps() (all, stopped int) {
	slices.SortFunc(a.reports, func(x, y *report) int { return x.from.Compare(y.from) })
	for i, x := range a.reports {
		for _, y := range a.reports[i+1:] {
			if !y.from.Before(x.to) {
				break
			}
			if y.process == x.process {
				continue
			}
			all++
			if a.wasStopped(x) || a.wasStopped(y) {
				stopped++
			}
			break
		}
	}
	return all, stopped
}

func (a *replicas) wasStopped(r *report) bool {
	const scheduled = 300 * time.Millisecond // until a process that goes on has run again
	return slices.ContainsFunc(a.processes[r.process].stopped, func(p period) bool {
		return p.from.Before(r.to) && p.to.Add(scheduled).After(r.from)
	})
}

// replicaCallers is how many payments a process makes at the same time.
const replicaCallers = 4

// runReplica pays its share of the orders and calls Run, until it is asked to end.
func runReplica(t *task) error {
	store, client, done, err := t.open()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(background, syscall.SIGTERM)
	defer stop()
	j := journal.New(client, store, journal.Options{WriteTimeout: time.Minute, Observe: func(_ context.Context, i journal.RecoverInfo) {
		if !i.Standby {
			fmt.Println("works", "now", time.Now().UnixNano())
		}
	}})
	var all sync.WaitGroup
	n := 0
	all.Go(func() {
		_ = j.Run(ctx, time.Second, func(_ context.Context, e journal.Entry) error {
			fmt.Println("reports", e.ID().Text, time.Now().UnixNano())
			time.Sleep(2 * time.Millisecond)
			if n++; n%20 == 0 { // the merchant's database is slow
				time.Sleep(200 * time.Millisecond)
			}
			fmt.Println("told", e.ID().Text, entryVerdict(&e))
			fmt.Println("reported", e.ID().Text, time.Now().UnixNano())
			return nil
		})
	})
	orders := Orders(t.Seed, t.Payments)
	next := make(chan int)
	var payers sync.WaitGroup
	for range replicaCallers {
		payers.Go(func() {
			for i := range next {
				if i%2 == 0 { // the others are left to Run
					t.payAndTell(j, &orders[i])
				} else {
					_, _ = orders[i].pay(background, j, t.Tokens[orders[i].Card])
				}
				time.Sleep(t.Pause)
			}
		})
	}
	for i := t.Next; i < len(orders) && ctx.Err() == nil; i += t.Replicas {
		fmt.Println("begin", i)
		next <- i
	}
	close(next)
	payers.Wait()
	fmt.Println("paid", "all")
	all.Wait()
	return done()
}

// replicasTable returns the results as a table.
func replicasTable(results []*ReplicasResult) string {
	const head = "Store|Processes|Payments|Kills|Stops|Charged|Charged twice|Lost|Reported wrong|Open at the end|Reports|Two at a time|" +
		"Of these, in a stopped process|Nobody worked, median|worst"
	return table(head, results, func(r *ReplicasResult) []any {
		median, worst := medianAndWorst(r.Gaps)
		return []any{r.Kind, r.Replicas, r.Payments, r.Kills, r.Stops, r.Charged, r.Twice, r.Forgotten(), r.Wrong, r.Open(),
			r.Reports, r.Overlaps, r.Stopped, median, worst}
	})
}
