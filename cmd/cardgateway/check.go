package main

import (
	"cmp"
	"context"
	"fmt"
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
	set, client, err := c.configure()
	if err != nil {
		return err
	}
	k := checker{call: c, client: client.WithRetry(cardgateway.RetryPolicy{MaxAttempts: 1})}
	defaults := map[string]string{
		"zone": client.Location().String(), "hosted-page-lifetime": client.HostedPageLifetime().String(), "timeout": set.Timeout.String(),
	}
	for _, s := range set.List {
		value, from := terminal.Clean(s.Value), terminal.Clean(s.From)
		switch {
		case value == "":
			value, from = cmp.Or(defaults[s.Name], "-"), "not set"
		case s.Name == settings.Secret:
			value = "set"
		case s.Name == settings.Journal, s.Name == settings.Database: // which can contain a password
			name, err := database.Parse(s.Value)
			if err != nil {
				k.look(s.Name, "set, but invalid (%s): the name of the database %v", from, err)
				continue
			}
			value = terminal.Clean(name.String())
		}
		k.line("      %-20s %s (%s)\n", s.Name, value, from)
	}
	health, err := k.client.Check(k.ctx)
	if err := k.reach(health, err, set.Get("merchant-id").Value != ""); err != nil {
		return err
	}
	k.clock(health)
	k.zone(health)
	k.app(health)
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

// reach prints whether the gateway responds and accepts the credentials.
func (k *checker) reach(health cardgateway.Health, err error, credentials bool) error {
	switch status, _, _ := exit.Response(err); {
	case k.ctx.Err() != nil:
		return context.Canceled
	case status != 0:
		k.ok("reachable", "HTTP %d in %v", status, health.Duration.Round(time.Millisecond))
	case health.Reachable:
		k.ok("reachable", "in %v", health.Duration.Round(time.Millisecond))
	}
	switch {
	case err != nil:
	case credentials:
		k.ok("credentials", "accepted")
	default:
		k.ok("credentials", "none are set, and the gateway requires none")
	}
	return err
}

// clock compares this machine's clock with that of the gateway, or of a proxy in front of it.
func (k *checker) clock(health cardgateway.Health) {
	const maxApart = 30 * time.Second
	switch apart := health.ClockAhead.Round(time.Second); {
	case !health.ClockKnown:
		k.ok("clock", "not compared: the gateway did not tell the time")
	case apart > maxApart:
		k.look("clock", "this machine is %v ahead of the gateway; set its clock", apart)
	case apart < -maxApart:
		k.look("clock", "this machine is %v behind the gateway; set its clock", -apart)
	default:
		k.ok("clock", "differs from the gateway's by %v", apart.Abs())
	}
}

// zone prints what is known of the zone. If the gateway is west of it, payments only look older, which proves nothing.
func (k *checker) zone(health cardgateway.Health) {
	if wrong := health.WrongZone; wrong != nil {
		k.look("zone", "%s", wrong)
		return
	}
	k.ok("zone", "%s; no payment is later than now. If the newest ones are missing from a list, zone is wrong", k.client.Location())
}

// app prints whether the payments of the last day are of this app.
func (k *checker) app(health cardgateway.Health) {
	switch own := health.Rows - health.OtherApps; {
	case health.Rows == 0:
		k.ok("app", "%s; not checked, because there is no payment of the last day", k.client.AppID())
	case own == 0:
		k.look("app", "none of %d payments of the last day is of app %s: app-id is probably wrong", health.Rows, k.client.AppID())
	default:
		k.ok("app", "%s; %d of %d payments of the last day are its own", k.client.AppID(), own, health.Rows)
	}
}
