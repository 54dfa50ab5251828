package cardgateway

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestFailuresOfQueries: which ones pass, so that a walk asks again, and which ones are a no to what was asked.
func TestFailuresOfQueries(t *testing.T) {
	query := func(status int, code Code, cause error) error {
		return fmt.Errorf("wrapped: %w", &QueryError{Op: "SearchOrders", HTTPStatus: status, Code: code, Cause: cause})
	}
	tests := []struct {
		name            string
		err             error
		passes, refused bool
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
		if passes(tt.err) != tt.passes || isRefused(tt.err) != tt.refused {
			t.Errorf("%s: passes %t, refused %t", tt.name, passes(tt.err), isRefused(tt.err))
		}
	}
}

// TestPatience: what passes is asked again until the limit, with pauses that grow to 15 s and respect Retry-After.
func TestPatience(t *testing.T) {
	down := &QueryError{HTTPStatus: 503}
	tests := []struct {
		name           string
		limit          time.Duration
		fails          int // before it answers
		err            error
		ok             bool
		tries          int // at least
		shortest, most time.Duration
	}{
		{"answers", time.Minute, 0, down, true, 1, 0, 0},
		{"down for three tries", time.Minute, 3, down, true, 4, 3500 * time.Millisecond, 7 * time.Second},
		{"down for good", time.Minute, 1000, down, false, 6, 30 * time.Second, time.Minute},
		{"no patience yet", 0, 1, down, false, 1, 0, 0},
		{"refused", time.Minute, 1000, &QueryError{HTTPStatus: 400}, false, 1, 0, 0},
		{"asked to wait", time.Minute, 1, &QueryError{HTTPStatus: 429, RetryAfter: 20 * time.Second}, true, 2, 20 * time.Second, 20 * time.Second},
		{"asked to wait too long", time.Minute, 1, &QueryError{HTTPStatus: 429, RetryAfter: time.Hour}, false, 1, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, tries := time.Now(), 0
				p, err := patiently(t.Context(), tt.limit, func() (*Page[modelRow], error) {
					if tries++; tries <= tt.fails {
						return nil, tt.err
					}
					return new(Page[modelRow]), nil
				})
				took := time.Since(begun)
				if (p != nil && err == nil) != tt.ok || tries < tt.tries || tt.ok && tries > tt.tries || took < tt.shortest || took > tt.most {
					t.Errorf("%d tries in %v: %v", tries, took, err)
				}
			})
		})
	}
}
