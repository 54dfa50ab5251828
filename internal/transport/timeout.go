package transport

import (
	"context"
	"fmt"
	"time"
)

// TimeoutError says that one attempt exceeded its timeout.
type TimeoutError struct{ Limit time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("no complete response within %v", e.Limit) }

// Timeout tells callers who ask for interface{ Timeout() bool }, as net.Error has it.
func (e *TimeoutError) Timeout() bool { return true }

// Is follows net/http, whose timeouts also match context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
