package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
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

const outputQuiet = "quiet"

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
	l, err := f.listener(c)
	if err != nil {
		return err
	}
	socket, err := f.listen(c.ctx)
	if err != nil {
		return err
	}
	defer socket.Close()
	if l.forwarder != nil && l.forwarder.IsAt(socket.Addr()) {
		return exit.Fail(exit.NoAnswer, "--forward-to is --addr: it would be forwarded to itself")
	}
	if f.Record != "" { // after all that can fail: a file that is not needed is not made
		if l.recorder, l.number, err = relay.OpenRecord(f.Record); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	if f.Wait > 0 {
		ctx, stop = context.WithTimeout(ctx, f.Wait)
		defer stop()
	}
	l.stop, l.lines.Stopped = stop, stop
	where := "; nothing is forwarded"
	if l.forwarder != nil {
		where = ", forwarding to " + terminal.Clean(l.forwarder.Shown)
	}
	c.tell("listening on http://%s%s", socket.Addr(), where)
	err = l.serve(ctx, socket)
	l.client.CloseIdleConnections()
	return l.finish(err)
}

// listener checks the flags, and makes the listener that they describe.
func (f *listenCommand) listener(c *call) (*listener, error) {
	for _, word := range f.Only {
		if !slices.Contains(relay.EventWords(), word) {
			return nil, exit.Fail(exit.NoAnswer, "--only: there is no %q; there are %s", terminal.Clean(word), strings.Join(relay.EventWords(), ", "))
		}
	}
	switch {
	case f.ExitAfter < 0:
		return nil, exit.Fail(exit.NoAnswer, "--exit-after must not be negative")
	case f.Wait < 0:
		return nil, exit.Fail(exit.NoAnswer, "--wait must not be negative")
	case f.ForwardTo == "" && len(f.Only) > 0:
		return nil, exit.Fail(exit.NoAnswer, "--only says what is forwarded: it needs --forward-to")
	}
	set, client, err := c.configure(nil)
	if err != nil {
		return nil, err
	}
	secret := set.Get(settings.Secret).Value
	if secret == "" && !f.SkipVerify {
		return nil, exit.Fail(exit.NoAnswer, "the secret key, with which notifications are signed, is missing: set %s, or --secret-file and "+
			"--merchant-id; or say --skip-verify", settings.Variable(settings.Secret))
	}
	l := newListener(c, f, client, secret)
	if f.ForwardTo != "" {
		timeout, err := set.Timeout()
		if err != nil {
			return nil, err
		}
		if l.forwarder, err = relay.NewForwarder("--forward-to", f.ForwardTo, timeout, c.now); err != nil {
			return nil, err
		}
	}
	return l, nil
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

// Times of the server. Package notify waits up to 5 s for a turn, and asks the gateway for up to 20 s.
const (
	readTimeout   = 10 * time.Second
	beforeForward = longestPlace + 5*time.Second + 20*time.Second
)

// serve answers until ctx ends, and finishes what is in flight then.
func (l *listener) serve(ctx context.Context, socket net.Listener) error {
	longest := beforeForward + 5*time.Second
	if l.forwarder != nil {
		longest += l.forwarder.Timeout
	}
	server := &http.Server{
		Handler: l, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: readTimeout + longest,
		MaxHeaderBytes: 64 << 10, ErrorLog: log.New(cleanWriter{l.err}, "cardgateway: ", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(socket) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	if l.ctx.Err() != nil && len(l.places) > 0 {
		l.say("finishing what is in flight; Ctrl-C again ends at once")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	defer cancel()
	err := server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	<-served
	return err
}

// finish prints the totals, and says how it went.
func (l *listener) finish(err error) error {
	if l.recorder != nil {
		if failed := l.recorder.Close(); failed != nil {
			err = cmp.Or(err, exit.Fail(exit.NoAnswer, "--record %s is not complete: %v", terminal.Clean(l.flags.Record), failed))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.totals
	l.say("received %d: forwarded %d, failed %d, refused %d, not forwarded %d", t.received(), t.forwarded, t.failed, t.refused, t.held)
	if failed := l.lines.Failure(); failed != nil {
		return exit.CannotWrite("lines", failed)
	}
	if err != nil {
		return err
	}
	if n := l.flags.ExitAfter; t.received() < n {
		if l.ctx.Err() != nil {
			return exit.Fail(exit.Interrupted, "interrupted; %d of %d notifications have come", t.received(), n)
		}
		return exit.Fail(exit.No, "%d of %d notifications have come within %v", t.received(), n, l.flags.Wait)
	}
	if t.failed+t.refused > 0 {
		return exit.Fail(exit.No, "")
	}
	return nil
}

// cleanWriter writes lines of others for a terminal.
type cleanWriter struct {
	out interface{ Write([]byte) (int, error) }
}

func (w cleanWriter) Write(p []byte) (int, error) {
	_, err := fmt.Fprintln(w.out, terminal.Clean(strings.TrimSuffix(string(p), "\n")))
	return len(p), err
}
