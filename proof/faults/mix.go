package faults

import (
	"fmt"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Mix is a run of many payments, or refunds, through many faults.
type Mix struct {
	Seed     uint64
	Payments int
	Refunds  bool // payments are made without faults, and their refunds through them
	Behavior Behavior
	Proto    string
	Only     *Fault // if set, every payment has this fault and no query has one
}

// Row is the result of a run with one design.
type Row struct {
	Mix
	Design string
	Posts  int64
	// Twice is how many payments moved money more than once.
	Twice int
	// Wrong is how many certain verdicts were false: paid and was not, or declined or refused and was paid.
	Wrong int
	// FalseNotSent is how many were reported as not sent, or absent, and were charged.
	FalseNotSent   int
	UnknownCharged int
	UnknownNot     int
	StillPending   int
	Verdicts       map[Verdict]int
	Failures       []string // some payments for which a guarantee was broken, for debugging
}

// Broken returns the number of payments for which a guarantee was broken.
func (r *Row) Broken() int { return r.Twice + r.Wrong + r.FalseNotSent }

// Forgotten returns the number of payments that moved money without a certain verdict that says so.
func (r *Row) Forgotten() int { return r.FalseNotSent + r.UnknownCharged }

// Open returns the number of payments without a final outcome.
func (r *Row) Open() int { return r.UnknownCharged + r.UnknownNot + r.StillPending }

// Run makes the payments with the design that the function returns, waits until nothing is in transit, and evaluates the
// verdicts.
func (m Mix) Run(design func(*site) (Design, error)) (*Row, error) {
	g := sandbox.New(sandbox.Options{
		Duplicates: m.Behavior.Duplicates, RefundDuplicates: m.Behavior.RefundDuplicates, RefundSettleAfter: patience / 2,
		NoNotifications: true, Seed: m.Seed, Search: sandbox.Search{Lag: patience / 2, LagOneIn: 5},
	})
	defer g.Close()
	var orders []Order
	var all []movement
	if m.Refunds {
		var err error
		if all, err = refunds(g, m.Seed, m.Payments); err != nil {
			return nil, err
		}
	} else {
		orders = Orders(m.Seed, m.Payments)
		for i := range orders {
			all = append(all, &orders[i])
		}
	}
	s := newSite(g, FrontOptions{
		Seed: m.Seed, PaymentShare: 0.5, QueryShare: 0.3, LeakShare: m.Behavior.LeakShare, Proto: m.Proto, Only: m.Only,
	})
	defer s.front.Close()
	d, err := design(s)
	if err != nil {
		return nil, err
	}
	verdicts := make([]Verdict, m.Payments)
	each(len(verdicts), workersOver(m.Proto), func(i int) { verdicts[i] = d.Make(background, all[i]) })
	if err := s.front.Drain(s.callers...); err != nil {
		return nil, err
	}
	time.Sleep(patience) // until the slowest row can be found, and the last refund is made
	approvePending(g, orders)
	d.Finish(background, all, verdicts)
	row := &Row{Mix: m, Design: d.Name(), Posts: s.front.Posts.Load(), Verdicts: make(map[Verdict]int)}
	for i, v := range verdicts {
		row.judge(all[i].id(), v, all[i].moved(g))
	}
	return row, nil
}

// workersOver returns the number of concurrent callers.
func workersOver(proto string) int {
	if proto != "" { // with more, the handshakes alone would take longer than a caller's timeout
		return 48
	}
	return 256
}

// judge compares the verdicts with what happened to the money.
func (r *Row) judge(id string, v Verdict, charged int) {
	r.Verdicts[v]++
	broken := true
	switch {
	case charged > 1:
		r.Twice++
	case v == Paid && charged == 0, (v == Declined || v == Refused) && charged > 0, v == Conflict:
		r.Wrong++
	case (v == NotSent || v == Absent) && charged > 0:
		r.FalseNotSent++
	default:
		broken = false
	}
	switch {
	case v == Pending:
		r.StillPending++
	case v == Unknown && charged > 0:
		r.UnknownCharged++
	case v == Unknown:
		r.UnknownNot++
	}
	if broken && len(r.Failures) < 5 {
		r.Failures = append(r.Failures, fmt.Sprintf("%s: told %s, charged %d times", id, v, charged))
	}
}

// table returns rows as a table. Forgotten refunds were made, and reported as absent or unknown.
func (m Mix) table(rows []*Row) string {
	if m.Refunds {
		return table("Gateway|Design|Requests|Refunded twice|Wrong|Lost|Unknown, not refunded|Left pending", rows, func(r *Row) []any {
			return []any{r.gateway(), r.Design, int(r.Posts), r.Twice, r.Wrong, r.Forgotten(), r.UnknownNot, r.StillPending}
		})
	}
	const head = "Gateway|Design|Requests|Charged twice|Wrong|False absent|Unknown, charged|Unknown, not charged|Left pending"
	return table(head, rows, func(r *Row) []any {
		return []any{r.gateway(), r.Design, int(r.Posts), r.Twice, r.Wrong, r.FalseNotSent, r.UnknownCharged, r.UnknownNot, r.StillPending}
	})
}

// gateway names a row's gateway, and how it is reached.
func (r *Row) gateway() string {
	return r.Behavior.Name + " (" + map[string]string{"": "HTTP/1.1", "tls": "TLS", "h2": "HTTP/2"}[r.Proto] + ")"
}

// each runs do for every index, many concurrently: most of them wait most of the time.
func each(n, workers int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, workers) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
