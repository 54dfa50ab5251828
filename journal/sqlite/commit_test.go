package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/journal"
)

var (
	shop = journal.Shop{Gateway: "https://gateway.test", AppID: "7"}
	day  = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

func key(id string) journal.Key { return journal.Key{Shop: shop, ID: journal.PaymentID(id)} }

func intent(id string) journal.Intent {
	return journal.Intent{Shop: shop, ID: journal.PaymentID(id), Operation: "TokenPayment", Amount: decimal.NewFromInt(1), Currency: "USD", At: day, Sender: id}
}

// TestUnwritableEvidence: evidence that has no stored form is rejected.
func TestUnwritableEvidence(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "journal.db"))
	defer func() { _ = s.Close() }()
	if _, _, err := s.Begin(t.Context(), intent("a")); err != nil {
		t.Fatal(err)
	}
	if err := s.Record(t.Context(), key("a"), 0, journal.Evidence{State: 99}); err == nil {
		t.Error("a state without a name was recorded")
	}
}

// TestOneBadWrite: a write that the database rejects does not affect the others in its transaction.
func TestOneBadWrite(t *testing.T) {
	large := []string{"bad a", "bad b"}
	for i := range 18 {
		large = append(large, fmt.Sprint("good ", i))
	}
	for name, ids := range map[string][]string{"two": {"bad", "good"}, "many": large} {
		t.Run(name, func(t *testing.T) { oneBadWrite(t, ids) })
	}
}

func oneBadWrite(t *testing.T, ids []string) {
	path := filepath.Join(t.TempDir(), "journal.db")
	s := open(t, path)
	defer func() { _ = s.Close() }()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	admin, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TRIGGER no BEFORE INSERT ON cardgateway_journal WHEN NEW.transaction_id LIKE 'bad%' BEGIN SELECT RAISE(ABORT, 'refused'); END",
		"BEGIN IMMEDIATE", // all others wait
	} {
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	begin := func(id string) {
		_, created, err := s.Begin(t.Context(), intent(id))
		if bad := strings.HasPrefix(id, "bad"); created == bad || (err != nil) != bad || bad && !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: created %t, %v", id, created, err)
		}
	}
	all.Go(func() { begin("first") }) // the others form one batch while this one waits
	time.Sleep(100 * time.Millisecond)
	for _, id := range ids {
		all.Go(func() { begin(id) })
	}
	time.Sleep(100 * time.Millisecond) // all are waiting
	if _, err := admin.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	succeeds(t, admin.Close())
}
