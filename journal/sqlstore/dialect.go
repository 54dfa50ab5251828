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
// it, a connection whose search path or default database is another one would use other tables. With $DURABLY_TRUE, which is TRUE, a statement of
// Postgres has its commit wait for the disk: through a pooler, any other program can have told the session that it need not.
func (s *Store) sql(statement string) string {
	durablyTrue := "TRUE"
	if s.dialect == Postgres {
		durablyTrue = "(set_config('synchronous_commit', 'on', TRUE) = 'on')"
	}
	statement = strings.ReplaceAll(statement, "$DURABLY_TRUE", durablyTrue)
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

// isTooOld reports whether a server's version is older than those that New names, with which nobody has tried it. One that cannot be read is
// accepted.
func (d Dialect) isTooOld(version string) bool {
	var major, minor, patch int
	n, _ := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch)
	oldest := 12_000_000
	switch {
	case d == MySQL && strings.Contains(version, "MariaDB"):
		oldest = 10_006_000
	case d == MySQL:
		oldest = 8_000_001
	}
	return n > 0 && major*1_000_000+minor*1000+patch < oldest
}
