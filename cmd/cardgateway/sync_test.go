package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

func TestSync(t *testing.T) {
	server, from, _ := seeded(t, sandbox.Options{})
	env := with(environment(server.URL), "CARDGATEWAY_DB", filepath.Join(t.TempDir(), "books.db"))
	r := tool(t, env, "reconcile", "sync", "--from", from.Format(time.RFC3339))
	r.want(t, exit.OK, "read 660 rows: 0 late, 0 changed, 0 gone; 12 orders are not final")
	if !strings.HasPrefix(r.out, "600 orders, 60 refunds, complete from ") {
		t.Errorf("got %q", r.out)
	}
	tool(t, env, "reconcile", "sync", "--quiet").wantSilent(t)
	server.Reset()
	r = tool(t, env, "reconcile", "sync", "--again", "3d")
	r.want(t, exit.Negative, "none of these rows was deleted", "reconcile sync --again 50h --accept-gone",
		"the gateway no longer returns 600 of the 600 orders from ")
	tool(t, env, "reconcile", "run", "--again", "3d").want(t, exit.Failed, "none of these rows was deleted") // nothing was compared
	tool(t, env, "reconcile", "sync", "--again", "3d", "--accept-gone").want(t, exit.OK, "660 gone")
	holds(t, tool(t, env, "check").out, "db                   SQLite file ")
}

// TestSyncWrong: each wrong use has words that say what to change, exit code 2, and leaves no file.
func TestSyncWrong(t *testing.T) {
	t.Parallel()
	server, from, _ := seeded(t, sandbox.Options{})
	dir := t.TempDir()
	env := environment(server.URL)
	begin := from.Format(time.RFC3339)
	for _, test := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"no database", env, nil, "db is missing: set --db, CARDGATEWAY_DB, or db in "},
		{"a keyword DSN", env, []string{"--db", "host=x dbname=y", "--from", begin}, "db (flag --db): the name of the database looks like a database server"},
		{"MySQL", env, []string{"--db", "mysql://x/y", "--from", begin}, "is a MySQL database"},
		{"a password as a flag", env, []string{"--db", "postgres://u:" + secretKey + "@127.0.0.1:1/x", "--from", begin}, "--db has a password"},
		{"no server", with(env, "CARDGATEWAY_DB", "postgres://u:"+secretKey+"@127.0.0.1:1/x"), nil,
			"db (environment CARDGATEWAY_DB): postgres database 127.0.0.1:1/x: "},
		{"no file and no --from", env, []string{"--db", filepath.Join(dir, "x.db")}, "there is no file "},
		{"no directory", env, []string{"--db", filepath.Join(dir, "none", "x.db"), "--from", begin}, "no such file or directory"},
		{"a time that is none", env, []string{"--db", filepath.Join(dir, "x.db"), "--from", "soon"}, `--from: "soon" is not a time`},
		{"a duration that is none", env, []string{"--db", filepath.Join(dir, "x.db"), "--again", "much"}, `--again: "much" is not a duration`},
		{"no configuration", nil, []string{"--db", filepath.Join(dir, "x.db"), "--from", begin}, "base-url is missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool(t, test.env, append([]string{"reconcile", "sync"}, test.args...)...).want(t, exit.Failed, test.want)
		})
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("got files %v, %v, want none", entries, err)
	}

	db := filepath.Join(dir, "books.db")
	wrong := with(env, "CARDGATEWAY_SECRET", "wrong")
	tool(t, wrong, "reconcile", "sync", "--db", db, "--from", begin).want(t, exit.Failed, "To continue, run: cardgateway reconcile sync --db ",
		"the copy is not up to date: the gateway does not accept the credentials")
	b, err := books.Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	tool(t, env, "reconcile", "sync", "--db", db).want(t, exit.Failed, "another run is using the database")
	succeeds(t, b.Close())
	tool(t, env, "reconcile", "sync", "--db", db).want(t, exit.OK) // nothing was lost
	tool(t, with(env, "CARDGATEWAY_APP_ID", "8"), "reconcile", "sync", "--db", db).want(t, exit.Failed, "a copy of the app 7")
}
