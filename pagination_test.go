package cardgateway

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestFailuresOfQueries: which ones are transient, so that a walk repeats the query, and which ones reject the query
// itself.
func TestFailuresOfQueries(t *testing.T) {
	query := func(status int, code Code, cause error) error {
		return fmt.Errorf("wrapped: %w", &QueryError{Op: "SearchOrders", HTTPStatus: status, Code: code, Cause: cause})
	}
	tests := []struct {
		name               string
		err                error
		transient, refused bool
	}{
		{"no connection", query(0, 0, errors.New("connection refused")), true, false},
		{"unavailable", query(503, 0, nil), true, false},
		{"slow down", query(429, 429, nil), true, false},
		{"system error", query(200, CodeSystemError, nil), true, false},
		{"unreadable", query(200, 0, errors.New("the answer is not JSON")), true, false},
		{"parameter error", query(200, CodeParameterError, nil), false, true},
		{"unauthorized", query(401, CodeUnauthorized, nil), false, true},
		{"bad request without a code", query(400, 0, nil), false, true},
		{"cancelled by the caller", query(0, 0, context.Canceled), false, false},
		{"invalid", &ValidationError{}, false, false},
		{"something else", errors.New("boom"), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, transient := isTransient(tt.err)
			if refused := isRefused(tt.err); transient != tt.transient || refused != tt.refused {
				t.Errorf("%s: transient %t, refused %t, want %t, %t", tt.name, transient, refused, tt.transient, tt.refused)
			}
		})
	}
	pause, transient := isTransient(fmt.Errorf("wrapped: %w", &QueryError{HTTPStatus: 429, RetryAfter: time.Minute}))
	if pause != time.Minute || !transient {
		t.Errorf("Retry-After: got a pause of %v, transient %t, want 1m, true", pause, transient)
	}
}
