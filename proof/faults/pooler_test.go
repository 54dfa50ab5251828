//go:build unix

package faults

import (
	"database/sql/driver"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/internal/test/testprogram"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// TestPooler: through a pooler that gives each transaction, or each statement, another session, every write and every read of several processes succeeds at the
// first attempt, whatever mode pgx has. Through a driver that hides pgx, the error names the setting.
func TestPooler(t *testing.T) {
	server := pgserver.Own(t)
	source := pooler(t, server, "transaction")
	for mode, pooled := range map[string]string{"": source, "cache_statement": source, "cache_describe": source, "exec": source, "simple_protocol": source,
		"of each statement": pooler(t, server, "statement")} {
		t.Run("mode "+mode, func(t *testing.T) {
			if mode != "" && pooled == source {
				pooled += "&default_query_exec_mode=" + mode
			}
			var all sync.WaitGroup
			for process := range 3 {
				s := newStore(t, openSource(t, "pgx", pooled), sqlstore.Postgres)
				for caller := range 8 {
					all.Go(func() {
						for i := range 5 {
							everyWrite(t, s, fmt.Sprint(mode, process, " ", caller, " ", i))
						}
					})
				}
			}
			all.Wait()
		})
	}
	t.Run("no pooler", func(t *testing.T) { // statements are prepared once
		db := openSource(t, "pgx", server.URL("public"))
		db.SetMaxOpenConns(1)
		everyWrite(t, newStore(t, db, sqlstore.Postgres), "direct")
		var prepared int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%cardgateway_journal%'`).Scan(&prepared); err != nil || prepared < 3 {
			t.Errorf("%d statements are prepared (%v)", prepared, err)
		}
	})
	t.Run("a driver that wraps pgx", func(t *testing.T) {
		for range 20 {
			db := openWrapped(t, "postgres:"+source, func(c fullConn) driver.Conn { return &plainConn{c, c, c, c} })
			if _, err := sqlstore.New(t.Context(), db, sqlstore.Postgres); err != nil {
				if !strings.Contains(err.Error(), "set default_query_exec_mode=exec") {
					t.Error(err)
				}
				return
			}
		}
		t.Error("nothing was prepared twice")
	})
}

// pooler starts PgBouncer with this pool_mode in front of a server, and returns the URL of its database.
func pooler(t *testing.T, server *pgserver.Server, mode string) string {
	t.Helper()
	binary, err := testprogram.Pooler.Find("/usr/sbin") // where Debian installs it
	testprogram.Pooler.Check(t, err)
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // another account uses it
		t.Fatal(err)
	}
	account, err := testprogram.Pooler.Account("postgres", dir)
	testprogram.Pooler.Check(t, err)
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\npostgres = host=%s user=t pool_size=4\n[pgbouncer]\nunix_socket_dir = %s\nlisten_port = 6432\nlisten_addr =\n"+
		"auth_type = any\npool_mode = %s\nmax_client_conn = 200\n", socketOf(t, server), dir, mode)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-q", config)
	cmd.SysProcAttr, cmd.Dir = account, dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has served
		_ = cmd.Wait()
	})
	source := "postgres:///postgres?user=t&port=6432&host=" + dir
	testprogram.Pooler.Check(t, testprogram.Pooler.Await("pgx", source+"&default_query_exec_mode=exec"))
	return source
}
