package faults

import (
	"context"
	"hash/fnv"
	"iter"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// journalDesign pays through the journal. Recover walks one store from one goroutine, so the payments are spread over
// several stores, as over several shops.
type journalDesign struct {
	*site
	client *cardgateway.Client
	stores []journal.Store
	shops  []*journal.Journal
}

const shops = 16

// newJournalDesign pays through the journal, with stores in memory.
func newJournalDesign(s *site) (Design, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	d := &journalDesign{site: s, client: c}
	for range shops {
		store := journal.NewMemoryStore()
		d.stores = append(d.stores, store)
		d.shops = append(d.shops, journal.New(c, store, journal.Options{}))
	}
	return d, nil
}

func (d *journalDesign) Name() string { return "this client, with journal" }

func (d *journalDesign) shop(id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return int(h.Sum32() % shops)
}

func (d *journalDesign) Pay(ctx context.Context, o *Order) Verdict {
	return verdictOf(o.pay(ctx, d.shops[d.shop(o.ID)], d.tokens[o.Card]))
}

// Settle recovers, as restarted programs would a day later, until nothing is open any more.
func (d *journalDesign) Settle(ctx context.Context, orders []Order, verdicts []Verdict) {
	at := make(map[string]int, len(orders))
	for i := range orders {
		at[orders[i].ID] = i
	}
	var mu sync.Mutex
	each(shops, shops, func(shop int) {
		for range 20 {
			open := 0
			j := journal.New(d.client, Aged{d.stores[shop]}, journal.Options{})
			for e, err := range j.Recover(ctx) {
				if err != nil {
					return
				}
				v := entryVerdict(&e)
				if v == Unknown || v == Pending {
					open++
				}
				mu.Lock()
				verdicts[at[e.TransactionID()]] = v
				mu.Unlock()
			}
			if open == 0 {
				return
			}
		}
	})
}

func entryVerdict(e *journal.Entry) Verdict {
	if e.State() == journal.PresumedAbsent && !e.Conflict() {
		return Absent
	}
	return verdictOf(e.Outcome())
}

// Aged shows a store as it will look in 25 hours: its payments have been open for longer than a day.
type Aged struct{ journal.Store }

const aged = 25 * time.Hour

// Begin returns the aged entry.
func (s Aged) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	in.At = in.At.Add(aged)
	e, created, err := s.Store.Begin(ctx, in)
	return older(e), created, err
}

// Get returns the aged entry.
func (s Aged) Get(ctx context.Context, key journal.Key) (journal.Entry, error) {
	e, err := s.Store.Get(ctx, key)
	return older(e), err
}

// Unacked gives aged entries.
func (s Aged) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range s.Store.Unacked(ctx, shop) {
			if !yield(older(e), err) {
				return
			}
		}
	}
}

func older(e journal.Entry) journal.Entry {
	e.Begun.At = e.Begun.At.Add(-aged)
	return e
}
