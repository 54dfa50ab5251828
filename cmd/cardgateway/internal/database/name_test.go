package database

import (
	"strings"
	"testing"
)

func TestPassword(t *testing.T) {
	for _, test := range []struct {
		name string
		has  bool
	}{
		{"books.db", false},
		{"postgres://u@localhost/rec", false},
		{"postgres://u:hunter2@localhost/rec", true},
		{"postgres://localhost/rec?password=hunter2", true},
		{"postgres://u@localhost/rec?sslpassword=hunter2", true},
		{"postgres://u:hunter2%@localhost/rec", true},
		{"host=x password=hunter2", false}, // it is refused anyway
	} {
		if got := HasPassword(test.name); got != test.has {
			t.Errorf("%s: got %t, want %t", test.name, got, test.has)
		}
	}
}

// TestParse: what is meant as a server never becomes a file, and no password is in an error.
func TestParse(t *testing.T) {
	for _, test := range []struct {
		name string
		kind Kind   // empty: refused
		want string // how it is shown, or words of the error
	}{
		{"payments.db", SQLite, "SQLite file payments.db"},
		{"./u:p@x.db", SQLite, "SQLite file ./u:p@x.db"},
		{"c:payments.db", "", "looks like a database server"},
		{`C:\shop\payments.db`, SQLite, `SQLite file C:\shop\payments.db`},
		{"postgresql://u:hunter2@localhost/shop", Postgres, "postgres database localhost/shop"},
		{"postgres://localhost/rec?password=hunter2", Postgres, "postgres database localhost/rec"},
		{"postgres://u@localhost/rec?sslpassword=hunter2", Postgres, "postgres database localhost/rec"},
		{"mysql://u:hunter2@localhost/shop", MySQL, "mysql database localhost/shop"},
		{"mariadb://u:hunter2@localhost:3307/shop?tls=true", MySQL, "mysql database localhost:3307/shop"},
		{"mysql://u@localhost/shop?socket=/run/mysqld.sock", MySQL, "mysql database localhost/shop"},
		{"mysql://u:hunter2@localhost", "", "has no host or no database"},
		{"mysql://u:hunter2@/shop", "", "has no host or no database"},
		{"mysql://u:hunter2@localhost/shop?parseTime=1", "", `has the option "parseTime"; mysql:// supports only tls and socket`},
		{"mysql://u:hunter2@localhost/shop?tls=perhaps", "", "is not a valid MySQL URL"},
		{"mysql://u:hunter2%@localhost/shop", "", "is not a valid MySQL URL"},
		{"", "", "is empty"},
		{" books.db", "", "white space"},
		{"books.db\n", "", "white space"},
		{":memory:", "", "lost when the program ends"},
		{"books/", "", "it is a directory"},
		{"shop@tcp(127.0.0.1:1)/shop", "", "looks like a database server"},
		{"_u:hunter2@localhost:5432/rec", "", "looks like a database server"},
		{"host=127.0.0.1 password=hunter2", "", "looks like a database server"},
		{"user=u password=hunter2 host = db", "", "looks like a database server"},
		{"oracle://x:hunter2@y/z", "", "looks like a database server"},
		{"://localhost/rec", "", "looks like a database server"},
		{"postgres:/localhost/rec", "", "looks like a database server"},
		{"postgres://x:hunter2@127.0.0.1:port/z", "", "is not a valid Postgres URL"},
		{"postgres://u:hunter2%@localhost/rec", "", "is not a valid Postgres URL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n, err := Parse(test.name)
			got := n.String()
			if err != nil {
				got = err.Error()
			}
			if n.Kind != test.kind || (err == nil) != (test.kind != "") || !strings.Contains(got, test.want) || strings.Contains(got, "hunter2") {
				t.Errorf("got %q, %q, want %q, %q and no password", n.Kind, got, test.kind, test.want)
			}
		})
	}
}

// FuzzParse: whatever the name, it is understood or refused, and a URL shows no password.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"books.db", "postgres://u:p@h/d", "mysql://u:p@h/d?socket=/s", "u:p@tcp(h)/d", "host=h", "C:/x", ":memory:"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		n, err := Parse(name)
		if err != nil {
			if n != (Name{}) {
				t.Errorf("got %v with %v", n, err)
			}
			return
		}
		if isURL := strings.Contains(name, "://"); isURL == (n.Kind == SQLite) || n.Text != name {
			t.Errorf("got %q, %s", n.Kind, n)
		}
	})
}
