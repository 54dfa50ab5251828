package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

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
		succeeds(t, os.WriteFile(path, []byte(text), 0o600))
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
		succeeds(t, s.Sums.Print(io.Discard))
	})
}
