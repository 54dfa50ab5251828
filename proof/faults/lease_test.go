package faults

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
)

// TestLeaseThatIsNotRenewed: a renewal that changes nothing is not a lease, although the row still names the holder; nor is one that fails.
func TestLeaseThatIsNotRenewed(t *testing.T) {
	const nothing = "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
	keep := map[string][]string{ // what keeps the row as it is, without an error
		"sqlite":   {"CREATE TRIGGER keep BEFORE UPDATE ON cardgateway_journal_lease BEGIN SELECT RAISE(IGNORE); END"},
		"postgres": {nothing, "CREATE TRIGGER keep BEFORE UPDATE ON cardgateway_journal_lease FOR EACH ROW EXECUTE FUNCTION nothing()"},
		"mysql":    {"CREATE TRIGGER keep BEFORE UPDATE ON cardgateway_journal_lease FOR EACH ROW SET NEW.until = OLD.until, NEW.holder = OLD.holder"},
	}
	const fails = "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused''; END'"
	fail := map[string][]string{
		"sqlite":   {"CREATE TRIGGER fail BEFORE UPDATE ON cardgateway_journal_lease BEGIN SELECT RAISE(ABORT, 'refused'); END"},
		"postgres": {fails, "CREATE TRIGGER fail BEFORE UPDATE ON cardgateway_journal_lease FOR EACH ROW EXECUTE FUNCTION fails()"},
		"mysql":    {"CREATE TRIGGER fail BEFORE UPDATE ON cardgateway_journal_lease FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'"},
	}
	twice := map[string][]string{ // a copy without its key
		"sqlite": {"CREATE TABLE c AS SELECT * FROM cardgateway_journal_lease", "DROP TABLE cardgateway_journal_lease",
			"ALTER TABLE c RENAME TO cardgateway_journal_lease", "INSERT INTO cardgateway_journal_lease SELECT * FROM cardgateway_journal_lease"},
		"postgres": {"ALTER TABLE cardgateway_journal_lease DROP CONSTRAINT cardgateway_journal_lease_pkey",
			"INSERT INTO cardgateway_journal_lease SELECT * FROM cardgateway_journal_lease"},
		"mysql": {"ALTER TABLE cardgateway_journal_lease DROP PRIMARY KEY",
			"INSERT INTO cardgateway_journal_lease SELECT * FROM cardgateway_journal_lease"},
	}
	for name, changes := range map[string]map[string][]string{"nothing is changed": keep, "the statement fails": fail, "two rows": twice} {
		t.Run(name, func(t *testing.T) {
			everyStore(t, func(t *testing.T, spec string) {
				s := openStore(t, spec)
				if to, err := s.Lease(t.Context(), journal.Shop{}, "a", time.Minute); to != "a" || err != nil {
					t.Fatalf("leased to %q, %v", to, err)
				}
				execAll(t, openDB(t, spec), changes[storeKind(spec)]...)
				if to, err := s.Lease(t.Context(), journal.Shop{}, "a", time.Minute); to == "a" || err == nil {
					t.Errorf("a renewal: leased to %q, %v; want an error", to, err)
				}
			})
		})
	}
}

// TestIdleShops: 100 shops of one process, for which nothing is open, cost the database at most one statement a second each: a renewal of the
// lease every two seconds, or in a process that stands by an attempt and a query, and a list at each interval.
func TestIdleShops(t *testing.T) {
	spec := "sqlite:" + filepath.Join(t.TempDir(), "journal.db")
	synctest.Test(t, func(t *testing.T) {
		const shops, length = 100, 40 * time.Second
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		var asked [2]*atomic.Int64 // by a process that works, and by one that stands by
		for process := range asked {
			store, n := openCounted(t, spec)
			asked[process] = n
			for app := range shops {
				client := clienttest.NewClient(t, cardgateway.Config{BaseURL: "https://gateway.test", AppID: cardgateway.AppID(fmt.Sprint(app + 1))})
				all.Go(func() {
					_ = journal.New(client, store, journal.Options{}).Run(ctx, 0, func(context.Context, journal.Entry) error { return nil })
				})
			}
			time.Sleep(10 * time.Second)
		}
		before := [2]int64{asked[0].Load(), asked[1].Load()}
		time.Sleep(length)
		for process, n := range asked {
			if n := n.Load() - before[process]; n < shops*20 || n > shops*(int64(length/time.Second)+1) {
				t.Errorf("process %d: %d statements in %v", process, n, length)
			} else {
				t.Logf("process %d: %d statements in %v", process, n, length)
			}
		}
	})
}
