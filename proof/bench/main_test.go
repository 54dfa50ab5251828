package bench

import (
	"context"
	"log"
	"os"
	"testing"

	"github.com/cardgateway/cardgateway-go/proof/bench/internal/loopback"
)

// serverVariable is the environment variable that makes this program the server.
const serverVariable = "CARDGATEWAY_BENCH_SERVER"

// server is the one server of all tests and benchmarks.
var server *loopback.Process

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) != "" {
		loopback.Serve()
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	p, err := loopback.Start(context.Background(), os.Args[0], serverVariable+"=1")
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
