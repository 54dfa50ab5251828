package journal

import (
	"cmp"
	"context"
	"log/slog"
)

// recordLater has an approval recorded a moment later, and returns the entry with it. It returns false if the evidence
// must be recorded before the outcome is returned. If the approval cannot be recorded, the payment stays open.
func (j *Journal) recordLater(e Entry, ev Evidence) (Entry, bool) {
	store, ok := j.store.(lateRecorder)
	key := e.Key()
	if !ok || ev.State != Succeeded || e.version() > 0 || !j.late.add(key) {
		return e, false
	}
	ev.At = j.clock.now()
	end := func() {
		j.touched.add(key) // before remove: a Recover that no longer waits for the write must read the entry again
		j.late.remove(key)
	}
	err := store.recordLater(key, e.version(), ev, func(err error) {
		if err == nil {
			end()
			return
		}
		go func() {
			defer end()
			if _, err := j.record(context.Background(), e, ev); err != nil {
				j.opts.Logger.LogAttrs(context.Background(), slog.LevelError, "journal: an approval could not be recorded: the payment stays open",
					slog.String(e.Begun.idMember(), cmp.Or(e.TransactionID(), e.RefundTransactionID())), slog.Any("error", err))
			}
		}()
	})
	if err != nil {
		j.late.remove(key)
		return e, false
	}
	told := e
	told.Evidence = []Evidence{ev}
	return told, true
}

// awaitLate waits until the approval of a payment is written, but no longer than WriteTimeout.
func (j *Journal) awaitLate(ctx context.Context, key Key) {
	done := j.late.get(key)
	if done == nil {
		return
	}
	j.store.(lateRecorder).hurry()
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
