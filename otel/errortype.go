package otel

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/redact"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Values of error.type in addition to the outcomes. All but the first are for attempts only.
const (
	errorTimeout        = "timeout"
	errorCanceled       = "canceled"
	errorNameResolution = "name_resolution"
	errorTLS            = "tls"
	errorConnect        = "connect"
	errorConnectionLost = "connection_lost"
)

// outcomeOf returns the outcome of a call, and its error.type if it failed. Normal events such as a decline are not
// failures.
func outcomeOf(info cardgateway.CallInfo) (outcome cardgateway.Outcome, errorType string) {
	switch info.Outcome {
	case cardgateway.OutcomeFailed:
		if errors.Is(info.Err, context.Canceled) { // for example, because a loop over orders was left early
			return cardgateway.OutcomeCanceled, ""
		}
	case cardgateway.OutcomeCanceled:
		if errors.Is(info.Err, context.DeadlineExceeded) { // of a walk, which is then incomplete
			return info.Outcome, errorTimeout
		}
		return info.Outcome, ""
	case cardgateway.OutcomeUnknown, cardgateway.OutcomeRefused, cardgateway.OutcomeNotSent, cardgateway.OutcomeConflict,
		cardgateway.OutcomeTest, cardgateway.OutcomeUnsettled, cardgateway.OutcomeUnreadable, cardgateway.OutcomeInvalid:
	default:
		return info.Outcome, ""
	}
	return info.Outcome, string(info.Outcome)
}

// attemptErrorType returns the error.type of an attempt, empty if a usable response came. It is the class of the error,
// never its text. If only the status shows that the attempt failed, it is the status, as the semantic conventions require.
func attemptErrorType(info cardgateway.AttemptInfo) string {
	switch {
	case info.Err == nil && info.HTTPStatus >= 400:
		return strconv.Itoa(info.HTTPStatus)
	case info.Err == nil:
		return ""
	case errors.Is(info.Err, context.Canceled):
		return errorCanceled
	case errors.Is(info.Err, cardgateway.ErrInvalidRequest):
		return string(cardgateway.OutcomeInvalid)
	}
	switch err := redact.Original(info.Err); {
	case isA[*net.DNSError](err): // before timeouts: it can also be one, and is more specific
		return errorNameResolution
	case isTimeout(err):
		return errorTimeout
	case isTLS(err):
		return errorTLS
	case isNetOp(err, "dial"):
		return errorConnect
	case isA[*net.OpError](err), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errorConnectionLost
	}
	return semconv.ErrorTypeOther.Value.AsString()
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// isTLS reports whether a handshake failed. An alert is a *net.OpError whose Op names the side that sent it.
func isTLS(err error) bool {
	return isA[*tls.CertificateVerificationError](err) || isA[tls.RecordHeaderError](err) ||
		isNetOp(err, "remote error") || isNetOp(err, "local error")
}

func isNetOp(err error, op string) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == op
}
