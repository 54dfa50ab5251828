// Package sandboxcommand is the command line of the sandbox, for cmd/cardgateway-sandbox and for cmd/cardgateway.
package sandboxcommand

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Run runs the gateway with these arguments, without the name of the command, until ctx ends.
func Run(ctx context.Context, name string, args []string, out io.Writer) error {
	s, err := parse(name, args, out)
	if err != nil {
		return err
	}
	gateway := sandbox.New(s.options)
	if s.seed.N > 0 {
		s.seed.To = time.Now().Truncate(time.Second)
		s.seed.From = s.seed.To.AddDate(0, 0, -s.days)
		gateway.SeedOrders(s.seed)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", s.addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	server := sandbox.Serve(l, gateway)
	defer server.Close()
	if _, err := fmt.Fprintf(out, "%s\n%s", server.URL, dashboard(server.URL, s.options.Console.Access)); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// dashboard returns the line with the URL of the dashboard. For a listener on all interfaces it has a loopback address.
func dashboard(base string, access sandbox.ControlAccess) string {
	if access == sandbox.ControlOff {
		return ""
	}
	base = strings.NewReplacer("//[::]:", "//127.0.0.1:", "//0.0.0.0:", "//127.0.0.1:").Replace(base)
	return "dashboard " + base + "/_sandbox/\n"
}
