// Command cardgateway-sandbox runs the card gateway of package sandbox for programs in any language.
//
//	cardgateway-sandbox                            # listens on a free loopback port
//	cardgateway-sandbox -addr 127.0.0.1:8080 -merchant m1 -secret s3cret -seed 100000
//	cardgateway-sandbox -notify http://127.0.0.1:9000/notify -secret s3cret
//
// The first line of its output is the base URL, the second the address of its dashboard. With -v a line follows for
// each request and each delivery of a notification. It runs until it is interrupted. Every choice that the interface
// leaves open is a flag, and below /_sandbox/api/v1/ a program in any language steers what happens; see docs/sandbox.md.
//
// With -notify it only sends one signed notification and prints the HTTP status of the response; it fails unless that
// is 200.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		stop()
		fmt.Fprintln(os.Stderr, "cardgateway-sandbox:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args, out)
	if err != nil {
		return err
	}
	if s.notify.url != "" {
		return s.notify.send(ctx, s.options.SecretKey, s.options.NotificationTokenMember, out)
	}
	return s.serve(ctx, out)
}

// serve answers until ctx ends.
func (s settings) serve(ctx context.Context, out io.Writer) error {
	gateway := sandbox.New(s.options)
	if s.seed.N > 0 {
		s.seed.To = time.Now().Truncate(time.Second)
		s.seed.From = s.seed.To.AddDate(0, 0, -s.days)
		gateway.SeedOrders(s.seed)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", s.addr)
	if err != nil {
		return err
	}
	server := sandbox.Serve(l, gateway)
	defer server.Close()
	if _, err := fmt.Fprintf(out, "%s\n%s", server.URL, dashboard(server.URL, s.options.Control)); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// dashboard is the line that says where the dashboard is. A listener on all interfaces is reached by loopback.
func dashboard(base string, access sandbox.ControlAccess) string {
	if access == sandbox.ControlOff {
		return ""
	}
	base = strings.NewReplacer("//[::]:", "//127.0.0.1:", "//0.0.0.0:", "//127.0.0.1:").Replace(base)
	return "dashboard " + base + "/_sandbox/\n"
}
