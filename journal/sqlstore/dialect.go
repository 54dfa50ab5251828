package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Dialect is the kind of database of a Store.
type Dialect int

// The supported databases.
const (
	SQLite   Dialect = iota + 1
	Postgres         // 12 or later
	MySQL            // MySQL 8.0.1 or later, MariaDB 10.6 or later
)

// String returns the name of the database.
func (d Dialect) String() string {
	switch d {
	case SQLite:
		return "SQLite"
	case Postgres:
		return "Postgres"
	case MySQL:
		return "MySQL"
	}
	return "Dialect(" + strconv.Itoa(int(d)) + ")"
}

// exec makes a statement, and returns how many rows it has changed.
func (s *Store) exec(ctx context.Context, on executor, statement string, args ...any) (int64, error) {
	result, err := on.ExecContext(ctx, s.sql(statement), args...)
	switch {
	case s.dialect.isDuplicate(err):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return result.RowsAffected()
}

// sql replaces the placeholders ? in a statement by those of the database, and names the schema of the tables that New has checked: without
// it, a connection whose search path or default database is another one would use other tables.
func (s *Store) sql(statement string) string {
	if s.dialect == Postgres {
		var b strings.Builder
		n := 0
		for part := range strings.SplitAfterSeq(statement, "?") {
			if text, ok := strings.CutSuffix(part, "?"); ok {
				n++
				part = text + "$" + strconv.Itoa(n)
			}
			b.WriteString(part)
		}
		statement = b.String()
	}
	return strings.ReplaceAll(statement, "cardgateway_", s.schema+"cardgateway_") // last: a schema can have a ? in its name
}

// isUnacked returns the condition for which the database uses its index of unacknowledged entries.
func (d Dialect) isUnacked() string {
	if d == MySQL { // with any other condition, it sorts all rows of the shop for each page
		return "unacked = TRUE"
	}
	return "unacked"
}

// repeated returns n copies of a text with commas between them.
func repeated(text string, n int) string {
	return strings.Repeat(text+", ", n-1) + text
}

// checkVersion rejects a server that is too old. Statements that it does not know would fail only when something is written, and
// then each write would be repeated on its own.
//
//   - Postgres 12: the oldest that was tried. The statements need 9.5, for ON CONFLICT and SKIP LOCKED.
//   - MySQL 8.0.1, MariaDB 10.6: SKIP LOCKED.
func (d Dialect) checkVersion(ctx context.Context, conn session) error {
	query := map[Dialect]string{Postgres: `SHOW server_version`, MySQL: `SELECT VERSION()`}[d]
	if query == "" {
		return nil
	}
	var version string
	if err := conn.QueryRowContext(ctx, query).Scan(&version); err != nil {
		return fmt.Errorf("the version of the server cannot be read: %w", err)
	}
	if needed := d.tooOld(version); needed != "" {
		return &settingError{text: fmt.Sprintf("the server has version %s, and %s or later is needed", version, needed)}
	}
	return nil
}

// tooOld returns the version that is needed if a server's version is older. A version that cannot be read is accepted.
func (d Dialect) tooOld(version string) (needed string) {
	var major, minor, patch int
	n, _ := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch)
	have := major*1_000_000 + minor*1000 + patch
	switch {
	case n == 0:
		return ""
	case d == Postgres && have < 12_000_000:
		return "Postgres 12"
	case d == MySQL && strings.Contains(version, "MariaDB"):
		if have < 10_006_000 {
			return "MariaDB 10.6"
		}
	case d == MySQL && have < 8_000_001:
		return "MySQL 8.0.1"
	}
	return ""
}
