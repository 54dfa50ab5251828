package settings

import (
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
	if secret := s.Get(Secret); secret.From == "file "+s.Get("secret-file").Value {
		warnIfReadable(s.stderr, s.Get("secret-file").Value)
	}
	config := cardgateway.Config{BaseURL: s.Get("base-url").Value, AppID: cardgateway.AppID(s.Get("app-id").Value)}
	if merchant := s.Get("merchant-id"); merchant.Value != "" {
		config.Authenticate = cardgateway.BasicAuth(merchant.Value, s.Get(Secret).Value)
	}
	var err error
	if config.AnyAppID, err = s.AnyApp(); err != nil {
		return nil, err
	}
	if config.TestPayments, err = s.TestPayments(); err != nil {
		return nil, err
	}
	if config.Location, err = s.Location(); err != nil {
		return nil, err
	}
	if config.HostedPageLifetime, err = s.hostedPageLifetime(); err != nil {
		return nil, err
	}
	if config.AttemptTimeout, err = s.Timeout(); err != nil {
		return nil, err
	}
	if s.verbose {
		config.Logger = slog.New(slog.NewTextHandler(s.stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	client, err := cardgateway.New(config)
	if invalid, ok := errors.AsType[*cardgateway.ValidationError](err); ok {
		s.nameFields(invalid)
	}
	return client, err
}

// Location returns the gateway's time zone.
func (s *Settings) Location() (*time.Location, error) {
	return parse(s.Get("zone"), cardgateway.DefaultLocation(), LoadZone, "is not a time zone; write a name such as Asia/Shanghai or UTC")
}

// LoadZone returns the time zone with a name. Local, that of this machine, is not the name of one: a copy would have other times on the next machine.
func LoadZone(name string) (*time.Location, error) {
	if name == time.Local.String() {
		return nil, errors.New("it is the zone of this machine")
	}
	return time.LoadLocation(name)
}

// hostedPageLifetime returns how long the cardholder can use the hosted page; zero means the client's default.
func (s *Settings) hostedPageLifetime() (time.Duration, error) {
	return parse(s.Get("hosted-page-lifetime"), 0, period.Parse, "is not a duration above zero; write 36h, 90m or 7d")
}

// AnyApp reports whether what states another appId is accepted, too.
func (s *Settings) AnyApp() (bool, error) {
	return parse(s.Get(AnyApp), false, strconv.ParseBool, "is neither true nor false")
}

// TestPayments reports whether the gateway is a test system.
func (s *Settings) TestPayments() (bool, error) {
	return parse(s.Get(TestPayments), false, strconv.ParseBool, "is neither true nor false")
}

// Timeout returns the timeout of one request.
func (s *Settings) Timeout() (time.Duration, error) {
	return parse(s.Get("timeout"), 30*time.Second, func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if d <= 0 {
			err = strconv.ErrRange
		}
		return d, err
	}, "is not a duration above zero; write 30s or 2m")
}

// parse parses the value of a setting, if it is set. Wrong says what is wrong with a value that cannot be parsed.
func parse[T any](set Setting, absent T, parser func(string) (T, error), wrong string) (T, error) {
	if set.Value == "" {
		return absent, nil
	}
	value, err := parser(set.Value)
	if err != nil {
		return value, exit.Fail(exit.Failed, "%s (%s): %q %s", set.Name, set.From, set.Value, wrong)
	}
	return value, nil
}

// complete returns an error that names all missing settings, or nil.
func (s *Settings) complete() error {
	var missing []string
	for _, name := range []string{"base-url", "app-id"} {
		if s.Get(name).Value == "" {
			missing = append(missing, exit.Message("%s is missing: set --%s, %s, or %s in %s",
				name, name, Variable(name), name, s.FileName()))
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

// nameFields puts the settings in place of the fields of Config.
func (s *Settings) nameFields(invalid *cardgateway.ValidationError) {
	names := map[string]string{"BaseURL": "base-url", "AppID": "app-id"}
	for i := range invalid.Problems {
		p := &invalid.Problems[i]
		if own := names[p.Field]; own != "" {
			p.Field = fmt.Sprintf("%s (%s)", own, s.Get(own).From)
		}
	}
}
