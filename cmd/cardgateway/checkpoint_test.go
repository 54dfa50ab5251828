package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/shopspring/decimal"
)

// TestSavedComesBack: what a checkpoint says is what it said, with every decimal of its sums.
func TestSavedComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	begun := saved{
		List: "orders", Gateway: "https://gateway.example", AppID: "7", Zone: "UTC", Format: tabular.CSV, Headed: true,
		From: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		Filter: map[string]string{"state": "approved"},
	}
	begun.Sums.Add("EUR", "approved", decimal.RequireFromString("12.50"))
	if err := begun.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readSaved(path)
	if err != nil {
		t.Fatal(err)
	}
	if what := got.differs(&begun); what != "" || !got.Headed || amount.Plain(got.Sums[0].Amount.Decimal) != "12.50" || got.Sums.Rows() != 1 {
		t.Errorf("got %+v (%s), want %+v", got, what, begun)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("got the files %v, %v, want one", files, err)
	}
}

// FuzzReadSaved: a file is a checkpoint of this program or is refused.
func FuzzReadSaved(f *testing.F) {
	for _, text := range []string{
		"", "null", "{}", `{"list":"orders","from":"2026-10-01T00:00:00Z","to":"2026-11-01T00:00:00Z"}`, `{"list":"orders","at":{"version":1}}`,
		`{"list":"orders","from":"2026-10-01T00:00:00Z","to":"2026-11-01T00:00:00Z","sums":[{"amount":"1e999999999"}]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := readSaved(path)
		if (s == nil) == (err == nil) {
			t.Fatalf("got %+v, %v", s, err)
		}
		if s == nil {
			return
		}
		if s.List == "" || !s.From.Before(s.To) {
			t.Errorf("got %+v", s)
		}
		if err := s.Sums.Print(io.Discard); err != nil {
			t.Error(err)
		}
	})
}
