package simulation

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
)

// backup is what the journals of all shops had at some time.
type backup struct {
	at      time.Time
	entries map[*thing]journal.Entry
}

func (w *world) newBackup() *backup {
	if slices.ContainsFunc(w.things, func(t *thing) bool { return t.damaged }) {
		return w.backup // the last one of what is whole
	}
	b := &backup{time.Now(), make(map[*thing]journal.Entry)}
	for _, t := range w.things {
		if e, err := w.entryOf(t); err == nil {
			b.entries[t] = e
		}
	}
	w.tell("a backup is made: %d entries", len(b.entries))
	return b
}

// restore stops every process and restores the last backup. What the journal has lost, the merchant does not call again.
func (w *world) restore() {
	if w.backup == nil {
		return
	}
	w.tell("the backup of day %d is restored", int(w.backup.at.Sub(w.begun).Hours())/24)
	for _, s := range w.shops {
		for _, p := range s.processes {
			p.stop()
		}
	}
	if err := w.medium.replace(); err != nil {
		panic(err)
	}
	w.leases = journal.NewMemoryStore()
	for _, t := range w.things {
		now, has := w.backup.entries[t]
		if has {
			if err := insert(w.medium.read(), &now); err != nil {
				panic(err)
			}
		}
		lost := len(now.Evidence) < len(t.entry.Evidence) || now.Begun.Sender != t.entry.Begun.Sender || now.Acked < t.entry.Acked
		t.frozen, t.damaged, t.entry = t.frozen || lost, false, now
	}
	for _, s := range w.shops {
		for _, p := range s.processes {
			w.revive(p, p.settings)
		}
	}
}

// insert writes an entry as it was.
func insert(store journal.Store, e *journal.Entry) error {
	ctx := context.Background()
	if _, is, err := store.Begin(ctx, e.Begun); err != nil || !is {
		return errors.Join(err, errors.New("the entry could not be restored"))
	}
	for i, ev := range e.Evidence {
		if e.Acked == i {
			if err := store.Ack(ctx, e.Key(), i); err != nil {
				return err
			}
		}
		if err := store.Record(ctx, e.Key(), i, ev); err != nil {
			return err
		}
	}
	if e.Acked == len(e.Evidence) {
		return store.Ack(ctx, e.Key(), e.Acked)
	}
	return nil
}
