package journal

import (
	"context"

	"github.com/cardgateway/cardgateway-go"
)

// needContext returns a *cardgateway.ValidationError, as the client does, if the context of a method is nil. It would
// panic later, when it may no longer be known whether something was sent or written.
func needContext(ctx context.Context, method string) error {
	if ctx == nil {
		return invalid(method, "ctx", "must not be nil")
	}
	return nil
}

// invalid returns the error for an argument that a method needs.
func invalid(method, argument, message string) error {
	return &cardgateway.ValidationError{Op: method, Problems: []cardgateway.Problem{{
		Field: argument, Rule: cardgateway.RuleRequired, Message: message,
	}}}
}
