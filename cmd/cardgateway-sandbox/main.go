// Command cardgateway-sandbox runs the card gateway of package sandbox for programs in any language.
//
//	cardgateway-sandbox                            # listens on a free loopback port
//	cardgateway-sandbox -addr 127.0.0.1:8080 -merchant m1 -secret s3cret -seed 100000
//
// The first line of its output is the base URL, the second the address of its dashboard. With -v a line follows for
// each request and each delivery of a notification. It runs until it is interrupted. Every choice that the interface
// leaves open is a flag, and below /_sandbox/api/v1/ a program in any language steers what happens; see docs/sandbox.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/cardgateway/cardgateway-go/cmd/internal/sandboxcommand"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := sandboxcommand.Run(ctx, "cardgateway-sandbox", os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		stop()
		fmt.Fprintln(os.Stderr, "cardgateway-sandbox:", err)
		os.Exit(1)
	}
}
