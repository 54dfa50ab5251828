package faults

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// journalDesign pays through the journal.
type journalDesign struct {
	*site
	client *cardgateway.Client
	name   string
	store  journal.Store
	shop   *journal.Journal
}

// newJournalDesign pays through the journal, with a store in memory.
func newJournalDesign(s *site) (Design, error) {
	return JournalOver("memory", journal.NewMemoryStore())(s)
}

// JournalOver pays through the journal over a store.
func JournalOver(name string, store journal.Store) func(*site) (Design, error) {
	return func(s *site) (Design, error) {
		c, err := s.client()
		if err != nil {
			return nil, err
		}
		return &journalDesign{site: s, client: c, name: name, store: store, shop: journal.New(c, store, journal.Options{})}, nil
	}
}

func (d *journalDesign) Name() string { return "this client, with journal (" + d.name + ")" }

func (d *journalDesign) Make(ctx context.Context, m movement) Verdict {
	v, _ := m.submit(ctx, d.shop, d.tokens) // what is unknown is left to Finish
	return v
}

// Finish recovers, like restarted programs a day later, until nothing is open any more.
func (d *journalDesign) Finish(ctx context.Context, all []movement, verdicts []Verdict) {
	at := make(map[string]int, len(all))
	for i, m := range all {
		at[m.id()] = i
	}
	for range 20 {
		open := 0
		j := journal.New(d.client, Aged{d.store}, journal.Options{Parallel: 256})
		for e, err := range j.Recover(ctx) {
			if err != nil {
				open++ // what stays open in the last round is counted
				continue
			}
			v := entryVerdict(&e)
			if v == Unknown || v == Pending {
				open++
			}
			verdicts[at[e.ID().Text]] = v
		}
		if open == 0 {
			return
		}
	}
}

func entryVerdict(e *journal.Entry) Verdict {
	if e.State() == journal.PresumedAbsent {
		return Absent
	}
	var v Verdict
	_ = e.Outcome(func(t *cardgateway.Transaction, err error) error {
		v = verdictOf(t, err)
		return nil
	}, func(r *cardgateway.Refund, err error) error {
		v = refundVerdict(r, err)
		return nil
	})
	return v
}

// Aged presents a store as it will be in 25 hours: its payments have been open for longer than a day.
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

// Unacked yields aged entries.
func (s Aged) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range s.Store.Unacked(ctx, shop) {
			if !yield(older(e), err) {
				return
			}
		}
	}
}

// older ages each submission of an entry: what is repeated after a failure is as old as its last submission.
func older(e journal.Entry) journal.Entry {
	e.Begun.At = e.Begun.At.Add(-aged)
	e.Evidence = slices.Clone(e.Evidence)
	for i, ev := range e.Evidence {
		if ev.Submission != nil {
			in := *ev.Submission
			in.At = in.At.Add(-aged)
			e.Evidence[i].Submission = &in
		}
	}
	return e
}
