package faults

import (
	"testing"
	"time"

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
