package sqlstore

import (
	"slices"
	"testing"
)

func TestDialectSQL(t *testing.T) {
	const text, want = "UPDATE cardgateway_x SET a = ?, b = a || ? WHERE c = ?", `UPDATE "a?b".cardgateway_x SET a = ?, b = a || ? WHERE c = ?`
	for d, want := range map[Dialect]string{
		SQLite: want, MySQL: want, Postgres: `UPDATE "a?b".cardgateway_x SET a = $1, b = a || $2 WHERE c = $3`,
	} {
		if got := (&Store{dialect: d, schema: `"a?b".`}).sql(text); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
	for d, want := range map[Dialect]string{SQLite: "SQLite", Postgres: "Postgres", MySQL: "MySQL", 7: "Dialect(7)"} {
		if d.String() != want {
			t.Errorf("got %q, want %q", d, want)
		}
	}
}

// TestWritable: in which words a server of MySQL or MariaDB says whether it takes writes, as a server or as its engine.
func TestWritable(t *testing.T) {
	for _, variable := range []string{"@@GLOBAL.read_only", "@@GLOBAL.innodb_read_only"} {
		i := slices.IndexFunc(MySQL.settings(), func(c condition) bool { return c.elsewhere && c.query == "SELECT "+variable })
		if i < 0 {
			t.Errorf("%s is not checked", variable)
			continue
		}
		for value, want := range map[string]bool{"0": false, "OFF": false, "1": true, "ON": true, "NO_LOCK": true, "NO_LOCK_NO_ADMIN": true, "none": true} {
			if got := MySQL.settings()[i].refuse(value); got != want {
				t.Errorf("%s = %s: refused %t, want %t", variable, value, got, want)
			}
		}
	}
}
