package main

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/listener"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

type listenCommand struct {
	Addr       string        `default:"127.0.0.1:4242" placeholder:"HOST:PORT" help:"Address to listen on; port 0 is any free one."`
	Public     bool          `help:"Take an --addr that other machines can reach."`
	ForwardTo  string        `name:"forward-to" placeholder:"URL" help:"Program to forward to. Without it notifications are shown only."`
	Record     string        `placeholder:"FILE" help:"Append what comes to a file, without secrets, for replay."`
	Only       []string      `placeholder:"WORD" help:"Forward these only, such as refund,approved: kinds, states, or token."`
	Ack        bool          `help:"Answer 200 to what is not forwarded. Without it the gateway sends it again."`
	SkipVerify bool          `name:"skip-verify" help:"Take notifications without a good signature. Each is confirmed by query all the same."`
	ExitAfter  int           `name:"exit-after" placeholder:"N" help:"End after N notifications."`
	Wait       time.Duration `placeholder:"DURATION" help:"End after this time."`
	Output     string        `enum:"compact,quiet" default:"compact" help:"compact: all lines. quiet: those of what was refused or failed."`
	relay.LineFlags
}

// Help is shown below the flags.
func (*listenCommand) Help() string {
	return `Receives the gateway's notifications, verifies their signature with the secret key, confirms each by a query, and forwards the
bytes as they came, with their headers and the query of their URL, to a program, whose answer it passes on. --timeout bounds the
program's answer too. What is not signed, or not confirmed, is shown and not forwarded. Ctrl-C finishes what is in flight and
prints how many were received, forwarded, failed (not answered with 200), refused and not forwarded.

Ends with 0 if none failed and none was refused, 1 if one did, or if fewer than --exit-after came within --wait, 130 if it was
interrupted before --exit-after.

Examples:
  cardgateway listen --forward-to http://localhost:8080/notify --record events.jsonl
  cardgateway listen --exit-after 1 --wait 60s --ack --format json`
}

// Run listens until it is interrupted, or until enough has come.
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
		return exit.Fail(exit.NoAnswer, "--forward-to is --addr: it would be forwarded to itself")
	}
	if f.Record != "" { // after all that can fail: a file that is not needed is not made
		if o.Recorder, o.Number, err = relay.OpenRecord(f.Record); err != nil {
			return err
		}
	}
	ctx := c.ctx
	if f.Wait > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, f.Wait)
		defer stop()
	}
	where := "; nothing is forwarded"
	if o.Forwarder != nil {
		where = ", forwarding to " + terminal.Clean(o.Forwarder.Shown)
	}
	c.tell("listening on http://%s%s", socket.Addr(), where)
	l := listener.New(client, o)
	err = l.Serve(ctx, socket)
	client.CloseIdleConnections()
	return f.finish(c, l.Totals(), &o, err)
}

// options checks the flags, and says what they mean for a listener.
func (f *listenCommand) options(c *call) (o listener.Options, _ *cardgateway.Client, err error) {
	for _, word := range f.Only {
		if !slices.Contains(relay.EventWords(), word) {
			return o, nil, exit.Fail(exit.NoAnswer, "--only: there is no %q; there are %s", terminal.Clean(word), strings.Join(relay.EventWords(), ", "))
		}
	}
	switch {
	case f.ExitAfter < 0:
		return o, nil, exit.Fail(exit.NoAnswer, "--exit-after must not be negative")
	case f.Wait < 0:
		return o, nil, exit.Fail(exit.NoAnswer, "--wait must not be negative")
	case f.ForwardTo == "" && len(f.Only) > 0:
		return o, nil, exit.Fail(exit.NoAnswer, "--only says what is forwarded: it needs --forward-to")
	}
	set, client, err := c.configure(nil)
	if err != nil {
		return o, nil, err
	}
	secret := set.Get(settings.Secret).Value
	if secret == "" && !f.SkipVerify {
		return o, nil, exit.Fail(exit.NoAnswer, "the secret key, with which notifications are signed, is missing: set %s, or --secret-file and "+
			"--merchant-id; or say --skip-verify", settings.Variable(settings.Secret))
	}
	o = listener.Options{
		SecretKey: secret, SkipVerify: f.SkipVerify, Only: f.Only, Ack: f.Ack, Quiet: f.Output == "quiet", Most: f.ExitAfter,
		Printer: &relay.Printer{Format: f.Format, Zone: client.Location(), Body: 200, Out: c.out},
		Now:     c.now, Tell: c.tell, End: func(inFlight int) {
			if c.ctx.Err() != nil && inFlight > 0 {
				c.say("finishing what is in flight; Ctrl-C again ends at once")
			}
		},
	}
	if f.ForwardTo != "" {
		timeout, err := set.Timeout()
		if err != nil {
			return o, nil, err
		}
		if o.Forwarder, err = relay.NewForwarder("--forward-to", f.ForwardTo, timeout, c.now); err != nil {
			return o, nil, err
		}
	}
	return o, client, nil
}

// listen opens the port. Only this machine reaches it, unless --public says otherwise.
func (f *listenCommand) listen(ctx context.Context) (net.Listener, error) {
	host, port, err := net.SplitHostPort(f.Addr)
	if err != nil {
		return nil, exit.Fail(exit.NoAnswer, "--addr: %q is no address; write 127.0.0.1:4242", terminal.Clean(f.Addr))
	}
	if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() && !f.Public {
		return nil, exit.Fail(exit.NoAnswer, "--addr %s can be reached by other machines: say --public if that is meant, or listen on 127.0.0.1:%s",
			terminal.Clean(f.Addr), terminal.Clean(port))
	}
	var config net.ListenConfig
	socket, err := config.Listen(ctx, "tcp", f.Addr)
	if err != nil {
		return nil, exit.Fail(exit.NoAnswer, "--addr: %s", terminal.Clean(err.Error()))
	}
	return socket, nil
}

// finish prints the totals, and says how it went.
func (f *listenCommand) finish(c *call, t listener.Totals, o *listener.Options, err error) error {
	if o.Recorder != nil {
		if failed := o.Recorder.Close(); failed != nil {
			err = cmp.Or(err, exit.Fail(exit.NoAnswer, "--record %s is not complete: %v", terminal.Clean(f.Record), failed))
		}
	}
	c.say("received %d: forwarded %d, failed %d, refused %d, not forwarded %d", t.Received(), t.Forwarded, t.Failed, t.Refused, t.Held)
	if failed := o.Printer.Failure(); failed != nil {
		return exit.CannotWrite("lines", failed)
	}
	if err != nil {
		return err
	}
	if n := f.ExitAfter; t.Received() < n {
		if c.ctx.Err() != nil {
			return exit.Fail(exit.Interrupted, "interrupted; %d of %d notifications have come", t.Received(), n)
		}
		return exit.Fail(exit.No, "%d of %d notifications have come within %v", t.Received(), n, f.Wait)
	}
	if t.Failed+t.Refused > 0 {
		return exit.Fail(exit.No, "")
	}
	return nil
}
