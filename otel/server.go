package otel

import (
	"net/url"
	"strconv"

	"github.com/cardgateway/cardgateway-go"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// serverAttributes returns server.address and server.port of the gateway. An error does not quote BaseURL, which may
// contain a password (which cardgateway.New would reject).
func serverAttributes(cfg *cardgateway.Config) ([]attribute.KeyValue, error) {
	switch {
	case cfg == nil:
		return nil, invalid("cfg", cardgateway.RuleRequired, "must not be nil")
	case cfg.BaseURL == "":
		return nil, invalid("BaseURL", cardgateway.RuleRequired, "must be set before Instrument is called")
	}
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Hostname() == "" {
		return nil, invalid("BaseURL", cardgateway.RuleFormat, "must be an absolute URL")
	}
	port := 443
	switch {
	case u.Port() != "":
		given, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil {
			return nil, invalid("BaseURL", cardgateway.RuleFormat, "must not have a port above 65535")
		}
		port = int(given)
	case u.Scheme == "http":
		port = 80
	}
	return []attribute.KeyValue{semconv.ServerAddress(u.Hostname()), semconv.ServerPort(port)}, nil
}

func invalid(field, rule, message string) error {
	return &cardgateway.ValidationError{
		Op: "Instrument", Problems: []cardgateway.Problem{{Field: field, Rule: rule, Message: message}},
	}
}
