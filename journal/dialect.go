package journal

import (
	"strconv"
	"strings"
)

// Dialect is the kind of database of a SQLStore.
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

// sql replaces the placeholders ? in a statement by those of the database.
func (d Dialect) sql(statement string) string {
	if d != Postgres {
		return statement
	}
	var b strings.Builder
	n := 0
	for part := range strings.SplitAfterSeq(statement, "?") {
		if text, ok := strings.CutSuffix(part, "?"); ok {
			n++
			part = text + "$" + strconv.Itoa(n)
		}
		b.WriteString(part)
	}
	return b.String()
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

// padded lengthens a list to the next power of two by repeating its last element. Statements over lists then have few
// different texts, and the driver can prepare each of them once. Use it only for statements to which a repetition makes
// no difference.
func padded[T any](list []T) []T {
	n := 1
	for n < len(list) {
		n *= 2
	}
	for last := list[len(list)-1]; len(list) < n; {
		list = append(list, last)
	}
	return list
}
