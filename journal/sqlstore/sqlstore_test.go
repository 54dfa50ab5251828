package sqlstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// TestNoDatabase: the constructors return an error without a database.
func TestNoDatabase(t *testing.T) {
	if _, err := sqlstore.New(t.Context(), nil, sqlstore.SQLite); err == nil {
		t.Error("New: no error")
	}
	if _, err := sqlstore.OpenExisting(t.Context(), nil, sqlstore.SQLite); err == nil {
		t.Error("OpenExisting: no error")
	}
}

// TestNilContext: every exported function and method that takes a context returns an error without one, and does not panic.
func TestNilContext(t *testing.T) {
	var none context.Context
	s, d := new(sqlstore.Store), new(sqlstore.Deduper)
	for name, call := range map[string]func() error{
		"New":                func() error { _, err := sqlstore.New(none, nil, sqlstore.SQLite); return err },
		"OpenExisting":       func() error { _, err := sqlstore.OpenExisting(none, nil, sqlstore.SQLite); return err },
		"Begin":              func() error { _, _, err := s.Begin(none, journal.Intent{}); return err },
		"Get":                func() error { _, err := s.Get(none, journal.Key{}); return err },
		"Record":             func() error { return s.Record(none, journal.Key{}, 0, journal.Evidence{}) },
		"Ack":                func() error { return s.Ack(none, journal.Key{}, 0) },
		"Forget":             func() error { _, err := s.Forget(none, time.Time{}); return err },
		"Shops":              func() error { _, err := s.Shops(none); return err },
		"Lease":              func() error { _, err := s.Lease(none, journal.Shop{}, "a", 0); return err },
		"Release":            func() error { return s.Release(none, journal.Shop{}, "a") },
		"NewDeduper":         func() error { _, err := s.NewDeduper(none, nil); return err },
		"Claim":              func() error { _, err := d.Claim(none, "a"); return err },
		"Handled":            func() error { return d.Handled(none, "a") },
		"Release of a claim": func() error { return d.Release(none, "a") },
		"Unacked": func() (err error) {
			for _, err = range s.Unacked(none, journal.Shop{}) {
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := strings.Fields(name)[0] + ": invalid request: ctx must not be nil"
			if err := call(); !errors.Is(err, cardgateway.ErrInvalidRequest) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
