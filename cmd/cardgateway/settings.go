package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// settings are the flags that every command has.
type settings struct {
	Config        string `placeholder:"FILE" help:"File with settings."`
	Profile       string `placeholder:"NAME" help:"Profile in that file: its settings count before the others there."`
	BaseURL       string `name:"base-url" placeholder:"URL" help:"Address of the gateway. Required."`
	AppID         string `name:"app-id" placeholder:"DIGITS" help:"The merchant's app. Required."`
	MerchantID    string `name:"merchant-id" placeholder:"ID" help:"User name of HTTP Basic; with the secret key."`
	SecretFile    string `name:"secret-file" placeholder:"FILE" help:"File that holds the secret key and nothing else."`
	SecretCommand string `name:"secret-command" placeholder:"COMMAND" help:"Command for sh that prints the secret key and nothing else."`
	Zone          string `placeholder:"NAME" help:"Zone of the gateway's times and of yours, such as Asia/Shanghai; UTC+8 if not set."`
	Timeout       string `placeholder:"DURATION" help:"Longest time of one request; 30s if not set."`
	Journal       string `placeholder:"PLACE" help:"The shop's journal: a SQLite file, or postgres://... or mysql://... without a password."`
	DB            string `name:"db" placeholder:"DATABASE" help:"Of reconcile: a SQLite file, or postgres://user@host/database."`
	MetricsFile   string `name:"metrics-file" placeholder:"FILE" help:"Write how the command ended, for the node exporter: a file that ends with .prom."`
	Verbose       bool   `short:"v" help:"A line on stderr for every request."`
	Quiet         bool   `short:"q" help:"No progress and no sums on stderr."`
}

// setting is one setting, and where its value comes from.
type setting struct {
	name  string
	value string
	from  string // in words; empty if it is not set
}

// flags returns the settings that have a flag, in the order in which check shows them.
func (s *settings) flags() []setting {
	all := []setting{
		{name: "base-url", value: s.BaseURL}, {name: "app-id", value: s.AppID}, {name: "merchant-id", value: s.MerchantID},
		{name: "secret-file", value: s.SecretFile}, {name: "secret-command", value: s.SecretCommand}, {name: "zone", value: s.Zone},
		{name: "timeout", value: s.Timeout}, {name: journalName, value: s.Journal}, {name: databaseName, value: s.DB},
	}
	for i := range all {
		if all[i].value != "" {
			all[i].from = "flag --" + all[i].name
		}
	}
	return all
}

// variable is the environment variable of a setting.
func variable(name string) string {
	return "CARDGATEWAY_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// configured is every setting with its value: of the flag, the environment or the file, in this order.
type configured struct {
	list []setting
	file string // where settings are read from, or would be; empty if there is no such place
}

func (c *configured) get(name string) setting {
	i := slices.IndexFunc(c.list, func(s setting) bool { return s.name == name })
	return c.list[i]
}

// load finds the value of every setting.
func (s *settings) load(ctx context.Context, sys system) (*configured, error) {
	file, inFile, err := s.readFile(sys)
	if err != nil {
		return nil, err
	}
	c := &configured{list: append(s.flags(), setting{name: secretName}), file: file}
	for i := range c.list {
		set := &c.list[i]
		if set.value != "" {
			continue
		}
		if value := sys.getenv(variable(set.name)); value != "" {
			set.value, set.from = value, "environment "+variable(set.name)
		} else if found := inFile[set.name]; found.value != "" {
			*set = found
		}
	}
	if err := c.checkJournal(); err != nil {
		return nil, err
	}
	return c, c.readSecret(ctx, sys.err)
}

// client makes the client that the settings describe.
func (c *call) client() (*cardgateway.Client, error) {
	_, client, err := c.configure(nil)
	return client, err
}

// configure finds the settings and makes their client. Transport is nil for the usual one.
func (c *call) configure(transport http.RoundTripper) (*configured, *cardgateway.Client, error) {
	set, err := c.settings.load(c.ctx, c.system)
	if err != nil {
		return nil, nil, err
	}
	client, err := c.clientOf(set, transport)
	return set, client, err
}

func (c *call) clientOf(set *configured, transport http.RoundTripper) (*cardgateway.Client, error) {
	if err := set.complete(); err != nil {
		return nil, err
	}
	if secret := set.get(secretName); secret.from == "file "+set.get("secret-file").value {
		warnIfReadable(c.err, set.get("secret-file").value)
	}
	config := cardgateway.Config{BaseURL: set.get("base-url").value, AppID: cardgateway.AppID(set.get("app-id").value)}
	if merchant := set.get("merchant-id"); merchant.value != "" {
		config.Authenticate = cardgateway.BasicAuth(merchant.value, set.get(secretName).value)
	}
	var err error
	if config.Location, err = set.location(); err != nil {
		return nil, err
	}
	if config.AttemptTimeout, err = set.timeout(); err != nil {
		return nil, err
	}
	if c.settings.Verbose {
		config.Logger = slog.New(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if transport != nil {
		config.HTTPClient = &http.Client{Transport: transport}
	}
	client, err := cardgateway.New(config)
	if invalid, ok := errors.AsType[*cardgateway.ValidationError](err); ok {
		return nil, exit.Fail(exit.NoAnswer, "%s", set.inOwnWords(invalid))
	}
	return client, err
}

// location is the zone of the gateway's times.
func (c *configured) location() (*time.Location, error) {
	zone := c.get("zone")
	if zone.value == "" {
		return cardgateway.DefaultLocation(), nil
	}
	location, err := time.LoadLocation(zone.value)
	if err != nil {
		return nil, exit.Fail(exit.NoAnswer, "zone (%s): %q is no zone; write a name such as Asia/Shanghai or UTC", zone.from, terminal.Clean(zone.value))
	}
	return location, nil
}

// timeout is the longest time of one request.
func (c *configured) timeout() (time.Duration, error) {
	timeout := c.get("timeout")
	if timeout.value == "" {
		return 30 * time.Second, nil
	}
	d, err := time.ParseDuration(timeout.value)
	if err != nil || d <= 0 {
		return 0, exit.Fail(exit.NoAnswer, "timeout (%s): %q is no duration; write 30s or 2m", timeout.from, terminal.Clean(timeout.value))
	}
	return d, nil
}

// complete says which settings are missing.
func (c *configured) complete() error {
	var missing []string
	for _, name := range []string{"base-url", "app-id"} {
		if c.get(name).value == "" {
			missing = append(missing, fmt.Sprintf("%s is missing: set --%s, %s, or %s in %s",
				name, name, variable(name), name, cmp.Or(c.file, "a file that --config names")))
		}
	}
	merchant, secret := c.get("merchant-id"), c.get(secretName)
	switch {
	case merchant.value != "" && secret.value == "":
		missing = append(missing, fmt.Sprintf("merchant-id is set (%s), and the secret key is missing: set %s, or --secret-file",
			merchant.from, variable(secretName)))
	case merchant.value == "" && secret.value != "":
		missing = append(missing, fmt.Sprintf("the secret key is set (%s), and merchant-id is missing: set --merchant-id or %s",
			secret.from, variable("merchant-id")))
	}
	if len(missing) > 0 {
		return exit.Fail(exit.NoAnswer, "%s", strings.Join(missing, "\ncardgateway: "))
	}
	return nil
}

// inOwnWords names the settings in place of the fields of Config.
func (c *configured) inOwnWords(invalid *cardgateway.ValidationError) string {
	names := map[string]string{"BaseURL": "base-url", "AppID": "app-id"}
	var all []string
	for _, p := range invalid.Problems {
		name := p.Field
		if own := names[p.Field]; own != "" {
			name = fmt.Sprintf("%s (%s)", own, c.get(own).from)
		}
		all = append(all, name+" "+p.Message)
	}
	return terminal.Clean(strings.Join(all, "; "))
}

// asFlags returns the settings that were given as flags, for a command that is printed to be run next.
func (s *settings) asFlags() (args []string) {
	if s.Config != "" {
		args = append(args, "--config", s.Config)
	}
	if s.Profile != "" {
		args = append(args, "--profile", s.Profile)
	}
	for _, set := range s.flags() {
		if set.value != "" {
			args = append(args, "--"+set.name, set.value)
		}
	}
	return args
}
