package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

type checkCommand struct{}

// Help is shown below the flags.
func (*checkCommand) Help() string {
	return `Prints each setting and its source, then queries the gateway for the payments of the last day. It changes nothing.

The exit code is 0 if everything is fine, 1 if a line begins with "look", and 2 if the gateway did not respond or did not accept
the credentials.`
}

// Run prints the settings and checks the gateway.
func (*checkCommand) Run(c *call) error {
	dates := &dateTransport{inner: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10, DisableKeepAlives: true,
	}}
	set, client, err := c.configure(dates)
	if err != nil {
		return err
	}
	k := checker{call: c, client: client.WithRetry(cardgateway.RetryPolicy{MaxAttempts: 1}), dates: dates}
	timeout, err := set.Timeout()
	if err != nil {
		return err
	}
	defaults := map[string]string{
		"zone": client.Location().String(), "hosted-page-lifetime": client.HostedPageLifetime().String(), "timeout": timeout.String(),
	}
	for _, s := range set.List {
		value, from := terminal.Clean(s.Value), s.From
		switch { // a location can contain a password
		case value == "":
		case s.Name == settings.Secret:
			value = "set"
		case s.Name == settings.Journal, s.Name == settings.Database:
			value = terminal.Clean(database.Describe(s.Value))
		}
		if value == "" {
			value, from = cmp.Or(defaults[s.Name], "-"), "not set"
		}
		k.line("      %-20s %s (%s)\n", s.Name, value, terminal.Clean(from))
	}
	if err := k.reach(set.Get("merchant-id").Value != ""); err != nil {
		return err
	}
	k.clock()
	if err := k.zone(); err != nil {
		return err
	}
	if k.failed != nil {
		return exit.CannotWrite("result", k.failed)
	}
	if k.looks > 0 {
		return exit.Fail(exit.Negative, "lines that begin with \"look\": %d", k.looks)
	}
	return nil
}

// checker queries the gateway, and prints a line for each check.
type checker struct {
	*call
	client *cardgateway.Client
	dates  *dateTransport
	newest *cardgateway.Transaction // of the last day; nil if there is none
	looks  int
	failed error // of writing to stdout
}

func (k *checker) line(format string, args ...any) {
	if _, err := fmt.Fprintf(k.out, format, args...); err != nil {
		k.failed = err
	}
}

func (k *checker) ok(what, format string, args ...any) {
	k.line("ok    %-20s %s\n", what, fmt.Sprintf(format, args...))
}

func (k *checker) look(what, format string, args ...any) {
	k.looks++
	k.line("look  %-20s %s\n", what, fmt.Sprintf(format, args...))
}

// reach queries the payments of the last day.
func (k *checker) reach(credentials bool) error {
	begun := time.Now()
	page, err := k.search(k.now().AddDate(0, 0, -1), k.now())
	if err != nil {
		status, _, _ := exit.Response(err)
		if status != 0 {
			k.ok("reachable", "HTTP %d in %v", status, time.Since(begun).Round(time.Millisecond))
		}
		return err
	}
	k.ok("reachable", "in %v", time.Since(begun).Round(time.Millisecond))
	if credentials {
		k.ok("credentials", "accepted")
	} else {
		k.ok("credentials", "none are set, and the gateway requires none")
	}
	for i := range page.Data {
		if t := &page.Data[i]; k.newest == nil || t.TransactionAt.Compare(k.newest.TransactionAt) > 0 {
			k.newest = t
		}
	}
	return nil
}

// search queries one page, and ignores rows that cannot be read.
func (k *checker) search(from, to time.Time) (*cardgateway.Page[cardgateway.Transaction], error) {
	page, err := k.client.SearchOrders(k.ctx, cardgateway.OrderQuery{Start: from, End: to}, cardgateway.PageRequest{PageSize: 100})
	if page != nil {
		return page, nil
	}
	if k.ctx.Err() != nil {
		err = context.Canceled
	}
	return nil, err
}

// clock compares this machine's clock with that of the gateway, or of a proxy in front of it. The Date header has a resolution
// of one second.
func (k *checker) clock() {
	if k.dates.date.IsZero() {
		k.ok("clock", "not compared: the gateway sent no Date header")
		return
	}
	const most = 30 * time.Second
	apart := k.dates.at.Sub(k.dates.date).Round(time.Second)
	switch {
	case apart > most:
		k.look("clock", "this machine is %v ahead of the gateway; set its clock", apart)
	case apart < -most:
		k.look("clock", "this machine is %v behind the gateway; set its clock", -apart)
	default:
		k.ok("clock", "differs from the gateway's by %v", apart.Abs())
	}
}

// zone searches for payments with a time in the future, which prove that the zone is wrong. If it is wrong in the other
// direction, payments only look older, which proves nothing.
func (k *checker) zone() error {
	now, zone := k.now(), k.client.Location()
	page, err := k.search(now.Add(15*time.Minute), now.AddDate(0, 0, 1))
	if err != nil {
		return err
	}
	for i := range page.Data {
		if at := page.Data[i].TransactionAt; at.In(zone).After(now.Add(15 * time.Minute)) {
			k.look("zone", "in %s a payment was made at %s, which is in the future: zone is not the gateway's time zone", zone, at)
			return nil
		}
	}
	if k.newest == nil {
		k.ok("zone", "%s; not checked, because there is no payment of the last day", zone)
		return nil
	}
	at := k.newest.TransactionAt
	k.ok("zone", "%s; the newest payment on the first page was made at %s, %v ago. If you know of a later one, zone is wrong", zone, at,
		now.Sub(at.In(zone)).Round(time.Minute))
	return nil
}

// dateTransport records the Date header of the last response, and this machine's time at that moment. It is for one request at a time.
type dateTransport struct {
	inner    http.RoundTripper
	date, at time.Time
}

// RoundTrip sends the request.
func (d *dateTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	begun := time.Now()
	resp, err := d.inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		d.date, d.at = date, begun.Add(time.Since(begun)/2)
	}
	return resp, nil
}
