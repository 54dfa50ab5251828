package main

import (
	"cmp"
	"context"
	"net"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/listener"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
)

type listenCommand struct {
	Addr       string `default:"127.0.0.1:4242" placeholder:"HOST:PORT" help:"Address to listen on; port 0 selects a free port."`
	Public     bool   `help:"Allow an --addr that other machines can reach."`
	ForwardTo  string `placeholder:"URL" help:"URL of your program. Without it, notifications are only shown."`
	Ack        bool   `help:"Respond with 200 to notifications that are not forwarded. Without it the response is 503, and the gateway sends them again."`
	SkipVerify bool   `help:"Do not verify signatures. Notifications are still confirmed by a query."`
}

// Help is shown below the flags.
func (*listenCommand) Help() string {
	return `Receives the gateway's notifications, verifies their signature with the secret key, and confirms each by a query. It forwards the
original body, headers and query string to your program, and returns your program's response to the gateway. --timeout also
applies to your program's response. A notification that is not signed correctly, or not confirmed, is shown but not forwarded.
Ctrl-C waits for requests in flight, then prints how many notifications were received, forwarded, failed (the response was not
200), refused and not forwarded.

The exit code is 0 if none failed and none was refused, and 1 if one was.

Example:
  cardgateway listen --forward-to http://localhost:8080/notify`
}

// Run listens until it is interrupted.
func (f *listenCommand) Run(c *call) (err error) {
	o, client, err := f.options(c)
	if err != nil {
		return err
	}
	socket, err := f.listen(c.ctx)
	if err != nil {
		return err
	}
	defer socket.Close()
	if o.Forwarder != nil && o.Forwarder.IsAt(socket.Addr()) {
		return exit.Fail(exit.Failed, "--forward-to is the address of --addr: notifications would be forwarded to this program itself")
	}
	where := "; nothing is forwarded"
	if o.Forwarder != nil {
		where = ", forwarding to " + o.Forwarder.Shown
	}
	c.tell("listening on http://%s%s", socket.Addr(), where)
	l := listener.New(client, o)
	err = l.Serve(c.ctx, socket)
	client.CloseIdleConnections()
	totals := l.Totals()
	forwarded, failed, refused, held := totals[relay.Forwarded], totals[relay.Failed], totals[relay.Refused], totals[relay.Held]
	c.say("received %d: forwarded %d, failed %d, refused %d, not forwarded %d", forwarded+failed+refused+held, forwarded, failed, refused, held)
	if err := cmp.Or(exit.CannotWrite("lines", o.Printer.Failure()), err); err != nil {
		return err
	}
	if failed+refused > 0 {
		return exit.Fail(exit.Negative, "")
	}
	return nil
}

// options checks the flags, and converts them to the options of a listener.
func (f *listenCommand) options(c *call) (o listener.Options, _ *cardgateway.Client, err error) {
	set, client, err := c.configure()
	if err != nil {
		return o, nil, err
	}
	secret := set.Get(settings.Secret).Value
	if secret == "" && !f.SkipVerify {
		return o, nil, exit.Fail(exit.Failed, "the secret key is missing, which verifies signatures: set %s, or --secret-file and "+
			"--merchant-id; or use --skip-verify", settings.Variable(settings.Secret))
	}
	o = listener.Options{
		SecretKey: secret, SkipVerify: f.SkipVerify, Ack: f.Ack,
		Printer: &relay.Printer{Zone: client.Location(), Body: 200, Out: c.out},
		Tell:    c.tell,
	}
	if f.ForwardTo != "" {
		if o.Forwarder, err = relay.NewForwarder("--forward-to", f.ForwardTo, set.Timeout); err != nil {
			return o, nil, err
		}
	}
	return o, client, nil
}

// listen opens the port. Without --public, only this machine can reach it.
func (f *listenCommand) listen(ctx context.Context) (net.Listener, error) {
	host, port, err := net.SplitHostPort(f.Addr)
	if err != nil {
		return nil, exit.Fail(exit.Failed, "--addr: %q is not an address; write 127.0.0.1:4242", f.Addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() && !f.Public {
		return nil, exit.Fail(exit.Failed, "other machines can reach --addr %s: use --public to allow that, or listen on 127.0.0.1:%s",
			f.Addr, port)
	}
	var config net.ListenConfig
	socket, err := config.Listen(ctx, "tcp", f.Addr)
	if err != nil {
		return nil, exit.Fail(exit.Failed, "--addr: %s", err)
	}
	return socket, nil
}
