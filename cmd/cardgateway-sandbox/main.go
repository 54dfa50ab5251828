// Command cardgateway-sandbox runs the card gateway of package sandbox for programs in any language.
//
//	cardgateway-sandbox                            # listens on a free loopback port
//	cardgateway-sandbox -addr 127.0.0.1:8080 -merchant m1 -secret s3cret -seed 100000
//	cardgateway-sandbox -notify http://127.0.0.1:9000/notify -secret s3cret
//
// The first line of its output is the base URL. It runs until it is interrupted. With -notify it only sends one
// signed notification and prints the HTTP status of the answer; it fails unless that is 200.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
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

// settings is what the flags say.
type settings struct {
	addr    string
	options sandbox.Options
	seed    int
	days    int
	notify  notification
}

// notification is the one that -notify sends.
type notification struct {
	url, kind, transactionID, uniqueID, amount, currency, token, appID string
	code                                                               int
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

func parse(args []string, out io.Writer) (settings, error) {
	var s settings
	var location string
	f := flag.NewFlagSet("cardgateway-sandbox", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&s.addr, "addr", "127.0.0.1:0", "`address` to listen on; port 0 is any free one")
	f.StringVar(&s.options.MerchantID, "merchant", "", "require HTTP Basic authentication with this merchant `id` and -secret")
	f.StringVar(&s.options.SecretKey, "secret", "", "secret `key`: Basic password, and signature of notifications")
	f.StringVar(&s.options.AppID, "app", "", "the only appId accepted, as `digits`; any if empty")
	f.StringVar(&s.options.BaseURL, "base", "", "`URL` put before redirectUrl's path; the caller's own if empty")
	f.StringVar(&location, "location", "", "time `zone` of wall-clock texts, for example Asia/Shanghai; UTC+8 if empty")
	f.IntVar(&s.seed, "seed", 0, "`number` of orders to begin with, a refund for every tenth")
	f.IntVar(&s.days, "days", 90, "`number` of days up to now over which -seed spreads them")
	f.DurationVar(&s.options.SettleAfter, "settle", 0, "how long a token payment stays at 102; below zero for ever")
	f.Float64Var(&s.options.NotificationScale, "scale", 1, "`factor` for the waits between repeated notifications")
	f.StringVar(&s.options.NotificationTokenMember, "token-member", "token", "`name` of the notification member that carries a token")
	f.BoolVar(&s.options.HTTPStatusFollowsCode, "status", false, "answer refusals with the HTTP status of their code instead of 200")
	f.StringVar(&s.notify.url, "notify", "", "send one notification to this `URL` and exit")
	f.StringVar(&s.notify.kind, "type", "Sale", "with -notify: the `transactionType`")
	f.IntVar(&s.notify.code, "code", 100, "with -notify: the result `code`")
	f.StringVar(&s.notify.transactionID, "transaction", "sandbox-transaction", "with -notify: the `transactionId`")
	f.StringVar(&s.notify.uniqueID, "unique", "1867098610731065345", "with -notify: the `uniqueId`")
	f.StringVar(&s.notify.amount, "amount", "94.93", "with -notify: the `amount`")
	f.StringVar(&s.notify.currency, "currency", "USD", "with -notify: the `currency`")
	f.StringVar(&s.notify.token, "token", "", "with -notify: a `token` to carry")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if s.seed < 0 || s.days < 1 {
		return s, errors.New("-seed must not be negative, and -days at least 1")
	}
	if s.options.MerchantID != "" && s.options.SecretKey == "" {
		return s, errors.New("-merchant needs -secret")
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if location != "" {
		loc, err := time.LoadLocation(location)
		if err != nil {
			return s, err
		}
		s.options.Location = loc
	}
	s.notify.appID = s.options.AppID
	return s, nil
}

// serve answers until ctx ends.
func (s settings) serve(ctx context.Context, out io.Writer) error {
	gateway := sandbox.New(s.options)
	if s.seed > 0 {
		now := time.Now().Truncate(time.Second)
		gateway.Seed(s.seed, now.AddDate(0, 0, -s.days), now)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", s.addr)
	if err != nil {
		return err
	}
	server := sandbox.Serve(l, gateway)
	defer server.Close()
	if _, err := fmt.Fprintln(out, server.URL); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// withoutURL keeps the address out of an error that would print it: its query can be all that guards a token.
func withoutURL(what string, err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", what, failed.Err)
	}
	return err
}

// send delivers the notification once.
func (n notification) send(ctx context.Context, secretKey, tokenMember string, out io.Writer) error {
	fields := map[string]any{
		"code": n.code, "appId": json.Number("3"), "isTest": true, "uniqueId": n.uniqueID, "transactionType": n.kind,
		"transactionCurrency": n.currency, "transactionAmount": n.amount, "transactionId": n.transactionID,
		"billDescription": "sandbox.example", "transactionCardNumber": "430000******0000",
		"timestamp": time.Now().UnixMilli(),
	}
	if n.appID != "" {
		fields["appId"] = json.Number(n.appID)
	}
	if n.token != "" {
		fields[tokenMember] = n.token
	}
	r, err := sandbox.NotificationRequest(n.url, secretKey, fields)
	if err != nil {
		return withoutURL("-notify", err)
	}
	client := &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return withoutURL("not delivered", err)
	}
	defer resp.Body.Close()
	if _, err := fmt.Fprintln(out, resp.StatusCode); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("not accepted: HTTP status %q", resp.Status)
	}
	return nil
}
