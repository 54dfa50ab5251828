package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Store keeps entries. Package journaltest has a suite that every implementation should pass.
//
// The methods may be called by any number of goroutines, and those of a store that several processes share by all
// of them. Whatever a method has written is durable when it returns without an error, with one latitude: evidence
// for which CanBeAskedAgain holds, and an acknowledgement, need only survive the death of the process at once, and a
// power failure soon. After an error it may or may not have been written.
//
// The version of an entry is the length of its Evidence. Record and Ack take the version that their caller has seen, as
// an optimistic lock: they change nothing if the entry has another one.
//
// An entry that is there and cannot be read is an *EntryError, from every method that would have to read it.
//
// A Key names a payment or a refund: file entries under the whole Key, or under its Shop and ID.
//
// Intent and Evidence have a JSON form, which keeps every member.
type Store interface {
	// Begin creates the entry of an intent and reports true, or returns the entry that is already there under this
	// key, acknowledged or not. Of any number of callers at once exactly one creates. For an intent that is repeated after
	// an error, with the same Sender, it may report true as long as the entry has no evidence.
	Begin(ctx context.Context, in Intent) (Entry, bool, error)
	// Get returns an entry, or ErrNoEntry.
	Get(ctx context.Context, key Key) (Entry, error)
	// Record appends evidence to an entry of this version; to another one it returns ErrChanged. For an unknown
	// key it returns ErrNoEntry.
	Record(ctx context.Context, key Key, version int, ev Evidence) error
	// Ack acknowledges an entry of this version; for another one it returns ErrChanged. An entry of which everything is
	// acknowledged is left as it is, whatever the version. For an unknown key it returns ErrNoEntry.
	Ack(ctx context.Context, key Key, version int) error
	// Unacked gives every entry of a shop that is not acknowledged, oldest first, at least those that were there when
	// the walk began, each as it was within the last second. The store may be used within the walk. An entry that cannot
	// be read is given as an *EntryError; any other error ends the walk.
	Unacked(ctx context.Context, shop Shop) iter.Seq2[Entry, error]
}

// EntryError says that an entry is there and cannot be read: it was damaged, or written by a newer version of this
// package. Other entries are not affected. No payment is sent for it, since it may have been sent before.
type EntryError struct {
	Key   Key
	Cause error
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("journal: the entry of %s of %q cannot be read: %v", e.Key.describe(), e.Key.Shop, e.Cause)
}

// Unwrap returns the cause.
func (e *EntryError) Unwrap() error { return e.Cause }

// tooRecent keeps Forget from forgetting what a running job may still repeat.
func tooRecent(before time.Time) error {
	if time.Since(before) < 24*time.Hour {
		return errors.New("journal: Forget takes a time at least 24 hours ago: a forgotten transactionId can be paid again")
	}
	return nil
}
