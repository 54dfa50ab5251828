package main

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/pgserver"
)

// thePostgres is a server of the tests' own.
var thePostgres struct {
	once    sync.Once
	server  *pgserver.Server
	err     error
	schemas int
}

// postgresURL returns an empty schema. It skips the test where there is no Postgres, and fails it where there must be
// one.
func postgresURL(t *testing.T) string {
	t.Helper()
	thePostgres.once.Do(func() { thePostgres.server, thePostgres.err = pgserver.Start() })
	if err := thePostgres.err; pgserver.MaySkip(err) {
		t.Skip("skipped:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	thePostgres.schemas++
	schema := fmt.Sprintf("books%d", thePostgres.schemas)
	db, err := sql.Open("pgx", thePostgres.server.URL("public"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "CREATE SCHEMA "+schema)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return thePostgres.server.URL(schema)
}

func stopPostgres() {
	if thePostgres.server != nil {
		_ = thePostgres.server.Stop() // what it leaves lies in the folder for temporary files
	}
}
