package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// LatencyRow is how long it takes from the confirmation of a payment until Run has called the merchant's function, and what the
// lease costs.
type LatencyRow struct {
	Store         string
	Replicas      int
	Confirmed     int
	Open          int // other payments that are not acknowledged
	Median, P99   time.Duration
	IdleHolder    float64 // statements of the lease per second, of the process that works
	IdleOther     float64 // of one that stands by
	NewsEach      float64 // statements that tell of news, for each confirmation
	ListsEachNews float64 // lists of what is not acknowledged, for each confirmation
}

// Latency confirms payments one after another, in the process that works or, with two replicas, in the one that stands by.
func Latency(name, spec string, replicas, payments, open int) (row *LatencyRow, err error) {
	g := sandbox.New(sandbox.Options{NoNotifications: true})
	defer g.Close()
	front := NewFront(g, FrontOptions{})
	defer front.Close()
	ctx, cancel := context.WithCancel(background)
	var running sync.WaitGroup
	var closing []func() error
	defer func() {
		cancel()
		running.Wait()
		for _, done := range closing {
			err = errors.Join(err, done())
		}
	}()
	told := make(chan string, 1000)
	var all []*counted
	var journals []*journal.Journal
	for i := range replicas {
		t := task{Store: spec, URL: front.URL, Patience: 30 * time.Second}
		store, client, done, err := t.open()
		if err != nil {
			return nil, err
		}
		closing = append(closing, done)
		c := &counted{Store: store, LeaseStore: store}
		j := journal.New(client, c, journal.Options{})
		all, journals = append(all, c), append(journals, j)
		if i == 0 {
			if err := addOpen(ctx, store, j.Shop(), payments, open); err != nil {
				return nil, err
			}
		}
		running.Go(func() {
			_ = j.Run(ctx, time.Hour, func(_ context.Context, e journal.Entry) error {
				if e.State() == journal.Succeeded {
					told <- e.ID().Text
				}
				return nil
			})
		})
		time.Sleep(3 * time.Second) // the first one has the lease
	}
	const idle = 10 * time.Second
	before := counts(all)
	time.Sleep(idle)
	after := counts(all)
	row = &LatencyRow{Store: name, Replicas: replicas, Confirmed: payments, Open: open}
	row.IdleHolder = float64(after[0].lease-before[0].lease) / idle.Seconds()
	if replicas > 1 {
		row.IdleOther = float64(after[1].lease-before[1].lease) / idle.Seconds()
	}
	var took []time.Duration
	before = counts(all)
	for i := range payments {
		id := latencyID(i)
		begun := time.Now()
		if err := journals[replicas-1].Confirm(ctx, &cardgateway.Transaction{
			Code: cardgateway.CodeSuccess, UniqueID: fmt.Sprint(i + 1), TransactionID: id, TransactionAmount: decimal.New(1250, -2), TransactionCurrency: "USD",
		}); err != nil {
			return nil, err
		}
		select {
		case got := <-told:
			if got != id {
				return nil, fmt.Errorf("faults: %s is reported instead of %s", got, id)
			}
		case <-time.After(time.Minute):
			return nil, fmt.Errorf("faults: %s is not reported", id)
		}
		took = append(took, time.Since(begun))
		time.Sleep(time.Duration(i%7) * 50 * time.Millisecond) // at any moment between two looks
	}
	after = counts(all)
	for i := range all {
		row.NewsEach += float64(after[i].added-before[i].added) / float64(payments)
		row.ListsEachNews += float64(after[i].listed-before[i].listed) / float64(payments)
	}
	row.Median, row.P99 = percentile(took, 50), percentile(took, 99)
	return row, nil
}

func latencyID(i int) string { return fmt.Sprintf("latency-%06d", i) }

// addOpen adds payments that were sent and have no outcome, and others that wait for their cardholder.
func addOpen(ctx context.Context, store journal.Store, shop journal.Shop, payments, open int) (err error) {
	var mu sync.Mutex
	each(payments+open, 64, func(i int) {
		in := journal.Intent{
			Shop: shop, ID: journal.PaymentID(latencyID(i)), OrderID: "order", Operation: "CreateCheckout", Amount: decimal.New(1250, -2), Currency: "USD",
			At: time.Now(), Sender: fmt.Sprint("sender ", i),
		}
		_, _, failed := store.Begin(ctx, in)
		if failed == nil {
			failed = store.Record(ctx, in.Key(), 0, journal.Evidence{At: time.Now(), Source: journal.SourceAnswer, State: journal.Pending, Sender: in.Sender,
				Transaction: &cardgateway.Transaction{Code: cardgateway.CodeRedirect, TransactionID: in.ID.Text, RedirectURL: "https://pay.example.com/"}})
		}
		mu.Lock()
		defer mu.Unlock()
		err = errors.Join(err, failed)
	})
	return err
}

// counted is a store that counts its calls.
type counted struct {
	journal.Store
	journal.LeaseStore
	lease, added, listed atomic.Int64 // statements of the lease, those that tell of news, lists
}

type storeCounts struct{ lease, added, listed int64 }

func counts(all []*counted) (n []storeCounts) {
	for _, c := range all {
		n = append(n, storeCounts{c.lease.Load(), c.added.Load(), c.listed.Load()})
	}
	return n
}

func (c *counted) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	c.listed.Add(1)
	return c.Store.Unacked(ctx, shop)
}

func (c *counted) Lease(ctx context.Context, shop journal.Shop, holder string, length time.Duration) (string, error) {
	c.lease.Add(1)
	to, err := c.LeaseStore.Lease(ctx, shop, holder, length)
	if to != holder {
		c.lease.Add(1) // a failed attempt is two statements
	}
	return to, err
}

func (c *counted) News(ctx context.Context, shop journal.Shop) (int64, error) {
	c.lease.Add(1)
	return c.LeaseStore.News(ctx, shop)
}

func (c *counted) AddNews(ctx context.Context, shop journal.Shop) error {
	c.added.Add(1)
	return c.LeaseStore.AddNews(ctx, shop)
}

// PrintLatency writes rows as a Markdown table.
func PrintLatency(w io.Writer, rows []*LatencyRow) {
	millis := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	var cells [][]any
	for _, r := range rows {
		cells = append(cells, []any{r.Store, r.Replicas, r.Open, r.Confirmed, millis(r.Median), millis(r.P99), fmt.Sprintf("%.1f", r.IdleHolder),
			fmt.Sprintf("%.1f", r.IdleOther), fmt.Sprintf("%.2f", r.NewsEach), fmt.Sprintf("%.2f", r.ListsEachNews)})
	}
	printTable(w, "Store|Processes|Other open payments|Confirmed|Reported after, median|99 %|Statements a second, working|standing by|"+
		"News per confirmation|Lists per confirmation", cells)
}
