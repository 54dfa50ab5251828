package journal

import (
	"cmp"
	"slices"
)

// The changes that a store makes to an entry, for the stores that hold entries whole.

// newEntry returns the entry of an intent of which nothing is known or acknowledged.
func newEntry(in Intent) Entry { return Entry{Begun: in, Acked: -1} }

// record appends evidence if there are exactly so many pieces.
func (e *Entry) record(pieces int, ev Evidence) error {
	if len(e.Evidence) != pieces {
		return ErrChanged
	}
	e.Evidence = append(e.Evidence, ev)
	return nil
}

// ack acknowledges what is not yet acknowledged, if there are exactly so many pieces of evidence, and reports whether
// that changed anything.
func (e *Entry) ack(pieces int) (changed bool, err error) {
	switch {
	case !e.Unacked():
		return false, nil
	case len(e.Evidence) != pieces:
		return false, ErrChanged
	}
	e.Acked = pieces
	return true, nil
}

// snapshot returns a copy that later changes of e leave alone. Evidence itself is never changed.
func (e *Entry) snapshot() Entry {
	s := *e
	s.Evidence = slices.Clone(e.Evidence)
	return s
}

// byAge orders entries by when they began.
func byAge(a, b Entry) int {
	return cmp.Or(a.Begun.At.Compare(b.Begun.At), cmp.Compare(a.Begun.TransactionID, b.Begun.TransactionID))
}
