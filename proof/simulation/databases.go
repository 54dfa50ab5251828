package simulation

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// database is a medium in SQLite or Postgres. Each process has its own connections.
type database struct {
	dialect sqlstore.Dialect
	dir     string // of SQLite's files
	number  int    // of the file or schema; a restore uses the next one
	id      uint64
	reader  *sqlstore.Store
	readDB  *sql.DB
}

// Postgres is the server for worlds with Postgres: one for all of them. Start it outside of virtual time.
var Postgres *pgserver.Server

// newMedium returns an empty medium.
func newMedium(kind string, id uint64) medium {
	d := &database{id: id}
	switch kind {
	case "sqlite":
		d.dialect, d.dir = sqlstore.SQLite, makeDir()
	case "postgres":
		d.dialect = sqlstore.Postgres
	default:
		return &memory{journal.NewMemoryStore()}
	}
	if err := d.prepare(); err != nil {
		panic(err)
	}
	return d
}

// makeDir makes a folder, in memory if it can: nobody cuts the power here.
func makeDir() string {
	dir, err := os.MkdirTemp("/dev/shm", "simulation")
	if err != nil {
		dir, err = os.MkdirTemp("", "simulation")
	}
	if err != nil {
		panic(err)
	}
	return dir
}

// administer executes a statement on the server.
func administer(statement string) error {
	db, err := sql.Open("pgx", Postgres.URL(""))
	if err != nil {
		return err
	}
	_, err = db.Exec(statement)
	return errors.Join(err, db.Close())
}

func (d *database) schema() string { return fmt.Sprintf("w%d_%d_%d", os.Getpid(), d.id, d.number) }

// prepare makes the file or the schema, and opens it for the oracle.
func (d *database) prepare() (err error) {
	if d.dialect == sqlstore.Postgres {
		if err := administer("CREATE SCHEMA " + d.schema()); err != nil {
			return err
		}
	}
	d.reader, d.readDB, err = d.connect()
	return err
}

// connect opens the database as a new process does.
func (d *database) connect() (*sqlstore.Store, *sql.DB, error) {
	driver, source := "pgx", ""
	if d.dialect == sqlstore.SQLite {
		path := filepath.Join(d.dir, fmt.Sprintf("%d.db", d.number))
		u := url.URL{Scheme: "file", Opaque: path, RawQuery: "_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"}
		driver, source = "sqlite", u.String()
	} else {
		source = Postgres.URL(d.schema())
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(4)
	store, err := sqlstore.New(context.Background(), db, d.dialect)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return store, db, nil
}

func (d *database) open(p *process) *contacts {
	store, db, err := d.connect()
	if err != nil {
		panic(err)
	}
	return &contacts{p, store, db}
}

func (d *database) read() administered { return d.reader }

func (d *database) replace() error {
	if err := d.readDB.Close(); err != nil {
		return err
	}
	d.number++
	return d.prepare()
}

// damage makes the entry of a thing unreadable, as another program or a bad disk would, and repair undoes it. In memory there
// is nothing to damage.
func (d *database) damage(t *thing, repair bool) bool {
	from, to := `{"`, `{?"`
	if repair {
		from, to = to, from
	}
	key := t.key()
	result, err := d.readDB.Exec(`UPDATE cardgateway_journal SET intent = replace(intent, $1, $2) WHERE shop = $3 AND transaction_id = $4`,
		from, to, key.Shop.String(), key.ID.String())
	if err != nil {
		return false
	}
	n, err := result.RowsAffected()
	return err == nil && n > 0
}

func (d *database) eachFile(do func(string, []byte)) {
	files, _ := filepath.Glob(filepath.Join(cmp.Or(d.dir, "none"), "*.db*")) // none with Postgres
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			do(filepath.Base(f), b)
		}
	}
}

func (d *database) end() {
	_ = d.readDB.Close()
	if d.dialect == sqlstore.Postgres {
		for ; d.number >= 0; d.number-- {
			_ = administer("DROP SCHEMA " + d.schema() + " CASCADE")
		}
	}
	_ = os.RemoveAll(d.dir)
}
