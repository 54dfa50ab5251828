package faults

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// oldEntry begins a payment 40 days ago, and acknowledges it.
func oldEntry(t *testing.T, s journal.Store, id string) journal.Intent {
	t.Helper()
	in := journal.Intent{ID: journal.PaymentID(id), At: time.Now().AddDate(0, 0, -40), Currency: "USD", Sender: "s"}
	if _, _, err := s.Begin(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	succeeds(t, s.Ack(t.Context(), in.Key(), 0))
	return in
}

// TestForgetKeepsWhatCannotBeRead: an entry that cannot be read may be of yesterday. Forget keeps and reports it, and
// deletes the others.
func TestForgetKeepsWhatCannotBeRead(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		store := openStore(t, spec)
		for _, id := range []string{"a", "bad 1", "bad 2", "c"} {
			oldEntry(t, store, id)
		}
		db := openDB(t, spec)
		execAll(t, db, "UPDATE cardgateway_journal SET intent = '{' WHERE transaction_id LIKE 'bad%'")
		n, err := store.Forget(t.Context(), time.Now().AddDate(0, 0, -30))
		if bad, ok := errors.AsType[*journal.EntryError](err); n != 2 || !ok || bad.Key.ID.Text != "bad 1" {
			t.Errorf("forgot %d, %v; want 2, and the error of the first that cannot be read", n, err)
		}
		var left int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM cardgateway_journal").Scan(&left); err != nil || left != 2 {
			t.Errorf("%d are left, %v; want 2", left, err)
		}
	})
}

// TestForgetWhatChanges: an entry that is submitted again and acknowledged while Forget runs is kept.
func TestForgetWhatChanges(t *testing.T) {
	var beforeDelete func()
	db := openInterrupted(t, mysqlStore(t, t.Name()+t.TempDir()), deleting(&beforeDelete))
	s := newStore(t, db, sqlstore.MySQL)
	in, _, other := oldEntry(t, s, "a"), oldEntry(t, s, "b"), oldEntry(t, s, "c")
	beforeDelete = func() {
		again := journal.Evidence{At: time.Now(), Source: journal.SourceSubmission, Submission: &in}
		for _, key := range []journal.Key{in.Key(), other.Key()} {
			succeeds(t, s.Record(t.Context(), key, 0, again))
		}
		succeeds(t, s.Ack(t.Context(), in.Key(), 1))
	}
	if n, err := s.Forget(t.Context(), time.Now().AddDate(0, 0, -30)); n != 1 || err != nil {
		t.Errorf("forgot %d, %v; want 1", n, err)
	}
	for _, kept := range []journal.Key{in.Key(), other.Key()} {
		if _, err := s.Get(t.Context(), kept); err != nil {
			t.Errorf("%s: %v", kept.ID, err)
		}
	}
}

// TestForgetAtOnce: of two that forget at once, one deletes, and the ids are used again. The other one deletes none of the new entries.
func TestForgetAtOnce(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		var beforeDelete func()
		db := openInterrupted(t, spec, deleting(&beforeDelete))
		s := newStore(t, db, databaseFor(t, spec).dialect)
		var olds []journal.Intent
		for _, id := range []string{"open", "open again", "acknowledged"} {
			olds = append(olds, oldEntry(t, s, id))
		}
		before := time.Now().AddDate(0, 0, -30)
		beforeDelete = func() {
			beforeDelete = func() {}
			if n, err := s.Forget(t.Context(), before); n != 3 || err != nil {
				t.Errorf("the first one forgot %d, %v", n, err)
			}
			for i, in := range olds {
				if i != 1 { // whose clock is wrong: nobody has acknowledged it all the same
					in.At = time.Now()
				}
				if _, created, err := s.Begin(t.Context(), in); !created || err != nil {
					t.Errorf("%s: created %t, %v", in.ID.Text, created, err)
				}
			}
			succeeds(t, s.Ack(t.Context(), olds[2].Key(), 0))
		}
		if n, err := s.Forget(t.Context(), before); n != 0 || err != nil {
			t.Errorf("forgot %d, %v; want 0", n, err)
		}
		for _, in := range olds {
			if _, err := s.Get(t.Context(), in.Key()); err != nil {
				t.Errorf("%s: %v", in.ID.Text, err)
			}
		}
	})
}

// deleting calls the function before each statement that deletes.
func deleting(do *func()) func(query string) error {
	return func(query string) error {
		if strings.HasPrefix(query, "DELETE") {
			(*do)()
		}
		return nil
	}
}
