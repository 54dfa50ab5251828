package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Store stores entries. Package journaltest has a test suite that every implementation should pass.
//
// The methods must be safe for concurrent use and, if several processes share the store, for use by all of them. What a
// method has written must be durable when it returns without an error. After an error it may or may not have been written.
//
// The version of an entry is the length of its Evidence. Record and Ack take the version that their caller has read, as
// an optimistic lock: they change nothing if the entry has another version.
//
// For an entry that exists but cannot be read, every method that has to read it returns an *EntryError.
//
// A Key identifies a payment or a refund: store entries under the whole Key, or under the texts of its Shop and ID.
//
// Intent and Evidence have a JSON form, which keeps every member.
//
// A Journal gives each call a context with a deadline, which ends a moment before the Journal stops waiting: a store that observes
// it can say why it could not do more.
type Store interface {
	// Begin creates the entry of an intent and reports true, or returns the existing entry with this key, acknowledged or
	// not. Of any number of concurrent callers, exactly one creates it. If an intent with the same Sender is repeated after
	// an error, it may report true as long as the entry has no evidence.
	Begin(ctx context.Context, in Intent) (Entry, bool, error)
	// Get returns an entry, or ErrNoEntry.
	Get(ctx context.Context, key Key) (Entry, error)
	// Record appends evidence to an entry with this version; if it has another version, it returns ErrChanged. For an
	// unknown key it returns ErrNoEntry. If a submission with the same Sender is repeated after an error, it may return nil as long as that
	// is the latest evidence.
	Record(ctx context.Context, key Key, version int, ev Evidence) error
	// Ack acknowledges an entry with this version; if it has another version, it returns ErrChanged. If everything is
	// already acknowledged it does nothing, whatever the version. For an unknown key it returns ErrNoEntry.
	Ack(ctx context.Context, key Key, version int) error
	// Unacked yields every entry of a shop that is not acknowledged, oldest first: at least those that existed when
	// the loop began, each as it was within the last second. The store may be used within the loop. An entry that cannot
	// be read is yielded as an *EntryError; any other error ends the loop.
	Unacked(ctx context.Context, shop Shop) iter.Seq2[Entry, error]
}

// A Store can also have a method to delete old entries. Package journaltest tests one with this signature:
//
//	Forget(ctx context.Context, before time.Time) (int64, error)
//
// It must return the error of CheckForget, and delete only entries with Entry.MayForget. With a method
//
//	Shops(ctx context.Context) ([]Shop, error)
//
// that returns the shops which have entries, Run can warn of a shop that has another name than before.

// Errors of a Store.
var (
	ErrNoEntry = errors.New("journal: no such payment or refund")
	ErrChanged = errors.New("journal: the entry has changed since then")
)

// EntryError says that an entry exists but cannot be read: it was damaged, or written by a newer version of this
// package. Other entries are not affected. No payment is sent for it, because it may have been sent before.
type EntryError struct {
	Key   Key
	Cause error
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("journal: the entry of %s of %q cannot be read: %v", e.Key.ID.describe(), e.Key.Shop, e.Cause)
}

// Unwrap returns the cause.
func (e *EntryError) Unwrap() error { return e.Cause }

// CheckForget returns an error for a time within the last 24 hours: a store must not forget what a running job may still repeat.
func CheckForget(before time.Time) error {
	if time.Since(before) < 24*time.Hour {
		return errors.New("journal: Forget takes a time at least 24 hours ago: a forgotten transactionId can be paid again")
	}
	return nil
}
