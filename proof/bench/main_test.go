package bench

import (
	"context"
	"log"
	"os"
	"testing"

	"github.com/cardgateway/cardgateway-go/proof/bench/internal/loopback"
)

// roleVariable is the environment variable for roles of this program other than tests.
const roleVariable = "CARDGATEWAY_BENCH_ROLE"

// server is the one server of all tests and benchmarks.
var server *loopback.Process

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "server":
		loopback.Serve()
		return
	case "walk":
		if err := walkAlone(); err != nil {
			log.Fatal(err)
		}
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	p, err := loopback.Start(context.Background(), os.Args[0], roleVariable+"=server")
	if err != nil {
		log.Print(err)
		return 1
	}
	defer func() {
		if err := p.Close(); err != nil {
			log.Print(err)
		}
	}()
	server = p
	return m.Run()
}
