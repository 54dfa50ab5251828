package settings

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
)

// Client creates a client from the settings.
func (s *Settings) Client() (*cardgateway.Client, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	config := cardgateway.Config{
		BaseURL: s.Get("base-url").Value, AppID: cardgateway.AppID(s.Get("app-id").Value), AnyAppID: s.AnyApp, TestPayments: s.TestPayments,
		Location: s.Location, HostedPageLifetime: s.HostedPageLifetime, AttemptTimeout: s.Timeout,
	}
	if merchant := s.Get("merchant-id"); merchant.Value != "" {
		config.Authenticate = cardgateway.BasicAuth(merchant.Value, s.Get(Secret).Value)
	}
	if s.verbose {
		config.Logger = slog.New(slog.NewTextHandler(s.stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	client, err := cardgateway.New(config)
	from := func(name string) string { return fmt.Sprintf("%s (%s)", name, s.Get(name).From) }
	return client, exit.Rename(err, map[string]string{"BaseURL": from("base-url"), "AppID": from("app-id")})
}

// parse sets the values that are no texts.
func (s *Settings) parse() error {
	var errs [5]error
	s.Location, errs[0] = valueOf(s.Get("zone"), cardgateway.DefaultLocation(), LoadZone, "is not a time zone; write a name such as Asia/Shanghai or UTC")
	s.AnyApp, errs[1] = valueOf(s.Get(AnyApp), false, strconv.ParseBool, "is neither true nor false")
	s.TestPayments, errs[2] = valueOf(s.Get(TestPayments), false, strconv.ParseBool, "is neither true nor false")
	s.HostedPageLifetime, errs[3] = valueOf(s.Get("hosted-page-lifetime"), 0, period.Parse, "is not a duration above zero; write 36h, 90m or 7d")
	s.Timeout, errs[4] = valueOf(s.Get("timeout"), 30*time.Second, func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if d <= 0 {
			err = strconv.ErrRange
		}
		return d, err
	}, "is not a duration above zero; write 30s or 2m")
	return cmp.Or(errs[:]...)
}

// valueOf parses the value of a setting, if it is set. Wrong says what is wrong with a value that cannot be parsed.
func valueOf[T any](set Setting, absent T, parser func(string) (T, error), wrong string) (T, error) {
	if set.Value == "" {
		return absent, nil
	}
	value, err := parser(set.Value)
	if err != nil {
		return value, exit.Fail(exit.Failed, "%s (%s): %q %s", set.Name, set.From, set.Value, wrong)
	}
	return value, nil
}

// LoadZone returns the time zone with a name. Local, that of this machine, is not the name of one: a copy would have other times on the next machine.
func LoadZone(name string) (*time.Location, error) {
	if name == time.Local.String() {
		return nil, errors.New("it is the zone of this machine")
	}
	return time.LoadLocation(name)
}

// complete returns an error that names all missing settings, or nil.
func (s *Settings) complete() error {
	var missing []string
	for _, name := range []string{"base-url", "app-id"} {
		if s.Get(name).Value == "" {
			missing = append(missing, s.Missing(name))
		}
	}
	merchant, secret := s.Get("merchant-id"), s.Get(Secret)
	switch {
	case merchant.Value != "" && secret.Value == "":
		missing = append(missing, exit.Message("merchant-id is set (%s), and the secret key is missing: set %s, or --secret-file",
			merchant.From, Variable(Secret)))
	case merchant.Value == "" && secret.Value != "":
		missing = append(missing, exit.Message("the secret key is set (%s), and merchant-id is missing: set --merchant-id or %s",
			secret.From, Variable("merchant-id")))
	}
	if len(missing) > 0 {
		return &exit.Failure{Code: exit.Failed, Text: strings.Join(missing, "\ncardgateway: ")}
	}
	return nil
}
