package main

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/pgserver"
)

var schemas int

// postgresURL returns an empty schema.
func postgresURL(t *testing.T) string {
	t.Helper()
	server := pgserver.Shared(t)
	schemas++
	schema := fmt.Sprintf("books%d", schemas)
	db, err := sql.Open("pgx", server.URL("public"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "CREATE SCHEMA "+schema)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return server.URL(schema)
}
