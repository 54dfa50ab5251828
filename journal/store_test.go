package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/journaltest"
)

func TestMemoryStore(t *testing.T) {
	journaltest.Run(t, journaltest.Harness{
		Open:     func(testing.TB, string) (journal.Store, func()) { return journal.NewMemoryStore(), func() {} },
		Volatile: true,
	})
}

func TestFileStore(t *testing.T) {
	journaltest.Run(t, journaltest.Harness{
		Open: func(t testing.TB, place string) (journal.Store, func()) {
			s := openFile(t, place)
			return s, func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		},
	})
}

func openFile(t testing.TB, dir string) *journal.FileStore {
	t.Helper()
	s, err := journal.NewFileStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func intent(id string) journal.Intent {
	return journal.Intent{
		TransactionID: id, OrderID: "o", Operation: "CreateCheckout", Amount: decimal.New(1250, -2), Currency: "USD",
		At: time.Now().Add(-48 * time.Hour), Sender: "s",
	}
}

func begin(t testing.TB, s journal.Store, id string) (created bool) {
	t.Helper()
	_, created, err := s.Begin(t.Context(), intent(id))
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func TestFileStoreIsForOneProcess(t *testing.T) {
	dir := t.TempDir()
	s := openFile(t, dir)
	if _, err := journal.NewFileStore(dir); err == nil {
		t.Fatal("the directory could be opened twice")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openFile(t, dir)
}

func TestFileStoreIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	begin(t, openFile(t, dir), "a")
	for name, want := range map[string]os.FileMode{".": 0o700, "journal.log": 0o600, "lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

// TestFileStoreTornTail cuts the file at every length: what is whole is kept, and what is not is dropped, and can be
// written again.
func TestFileStoreTornTail(t *testing.T) {
	whole := t.TempDir()
	s := openFile(t, whole)
	for i := range 3 {
		begin(t, s, fmt.Sprint(i))
	}
	_ = s.Close()
	data, err := os.ReadFile(filepath.Join(whole, "journal.log"))
	if err != nil {
		t.Fatal(err)
	}
	for length := len(data); length >= 0; length -= 7 {
		dir := t.TempDir()
		for _, tail := range []string{"", "\x00\x00\x00", "\x00\n\x00\n"} {
			if err := os.WriteFile(filepath.Join(dir, "journal.log"), append(data[:length:length], tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			s := openFile(t, dir)
			lines := strings.Count(string(data[:length]), "\n")
			for i := range 3 {
				if created := begin(t, s, fmt.Sprint(i)); created != (i >= lines) {
					t.Fatalf("cut at byte %d of %d: payment %d created again is %v", length, len(data), i, created)
				}
			}
			_ = s.Close()
			s = openFile(t, dir)
			if begin(t, s, "2") {
				t.Fatalf("cut at byte %d: what was written afterwards is lost", length)
			}
			_ = s.Close()
		}
	}
}

// TestFileStoreDamage changes one byte in the middle of what had been synced: the store does not open.
func TestFileStoreDamage(t *testing.T) {
	dir := t.TempDir()
	s := openFile(t, dir)
	for i := range 5 {
		begin(t, s, fmt.Sprint(i))
	}
	_ = s.Close()
	path := filepath.Join(dir, "journal.log")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = journal.NewFileStore(dir)
	if err == nil {
		_ = s.Close()
		t.Fatal("a damaged file was opened")
	}
	if !strings.Contains(err.Error(), "damaged at byte") {
		t.Errorf("the error does not say where: %v", err)
	}
	if left, _ := os.ReadFile(path); string(left) != string(data) {
		t.Error("the damaged file was changed")
	}
}

func TestFileStoreForget(t *testing.T) {
	dir := t.TempDir()
	s := openFile(t, dir)
	for i := range 100 {
		id := fmt.Sprint(i)
		begin(t, s, id)
		if i%10 != 0 {
			if err := s.Ack(t.Context(), id, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := size(t, dir)
	if err := s.Forget(t.Context(), time.Now()); err == nil {
		t.Error("payments of this day could be forgotten")
	}
	if err := s.Forget(t.Context(), time.Now().Add(-24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if after := size(t, dir); after > before/10 {
		t.Errorf("the file had %d bytes and has %d", before, after)
	}
	if begin(t, s, "10") || !begin(t, s, "11") {
		t.Error("the wrong payments were forgotten")
	}
	_ = s.Close()
	s = openFile(t, dir)
	if begin(t, s, "10") || begin(t, s, "11") || !begin(t, s, "12") {
		t.Error("after opening again, the wrong payments are forgotten")
	}
}

// TestFileStoreCompacts opens a file of which most lines are superseded.
func TestFileStoreCompacts(t *testing.T) {
	dir := t.TempDir()
	s := openFile(t, dir)
	const entries, pieces = 30, 40
	for i := range entries {
		id := fmt.Sprint(i)
		begin(t, s, id)
		for piece := range pieces {
			if err := s.Record(t.Context(), id, piece, journal.Evidence{Source: journal.SourceAnswer}); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := size(t, dir)
	_ = s.Close()
	s = openFile(t, dir)
	if after := size(t, dir); after > before/(pieces/4) {
		t.Errorf("the file had %d bytes and has %d", before, after)
	}
	for i := range entries {
		e, created, err := s.Begin(t.Context(), intent(fmt.Sprint(i)))
		if err != nil || created || len(e.Evidence) != pieces {
			t.Errorf("after compacting: created %v, %d pieces, %v", created, len(e.Evidence), err)
		}
	}
}

func size(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "journal.log"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
