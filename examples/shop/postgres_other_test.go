//go:build !unix

package main

import (
	"os"
	"testing"
)

func postgresURL(t *testing.T) string {
	if os.Getenv("CARDGATEWAY_REQUIRE_POSTGRES") == "1" {
		t.Fatal("the tests start a Postgres server on Unix only")
	}
	t.Skip("skipped: the tests start a Postgres server on Unix only")
	return ""
}

func stopPostgres() {}
