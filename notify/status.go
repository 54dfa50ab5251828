package notify

import (
	"errors"
	"net/http"

	"github.com/cardgateway/cardgateway-go"
)

// Why a notification was not accepted, in addition to the errors of reading and confirming it.
var (
	errNotPost     = errors.New("notify: a notification comes by POST")
	errNotWhole    = errors.New("notify: the notification could not be read completely")
	errNotVerified = errors.New("notify: Verify refused the notification")
	errTokenURL    = errors.New("notify: the notification's token did not come to its own URL")
	errNoTokenURLs = errors.New("notify: Options.TokenURLs is not set")
	errOtherToken  = errors.New("notify: the transaction has had another token before")
	errNotHandled  = errors.New("notify: the notification was not handled")
	errNoClaim     = errors.New("notify: the Deduper could not claim a notification")
	errPanicked    = errors.New("notify: a function of the merchant panicked")
	errClaimed     = errors.New("notify: the same event is being handled elsewhere")

	errUnauthorized = errors.New("notify: the gateway does not accept the client's credentials")
)

// statusOf returns the HTTP status for an error, or 200 for nil. If the sender is not at fault, the status makes the
// gateway repeat the notification.
func statusOf(err error) int {
	switch {
	case err == nil:
		return http.StatusOK
	case isMerchants(err): // first: it can wrap any error of the merchant
		return http.StatusServiceUnavailable
	case errors.Is(err, errNotVerified), errors.Is(err, errTokenURL):
		return http.StatusForbidden
	case errors.Is(err, errNotPost):
		return http.StatusMethodNotAllowed
	case errors.Is(err, errMediaType):
		return http.StatusUnsupportedMediaType
	case errors.Is(err, errTooLong):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errNotWhole), errors.Is(err, errUnreadable), errors.Is(err, errNothingToAsk):
		return http.StatusBadRequest
	case errors.Is(err, errContradicted), errors.Is(err, errOtherToken):
		return http.StatusConflict
	}
	return http.StatusServiceUnavailable
}

// isUnauthorized reports whether a query was refused for its credentials.
func isUnauthorized(err error) bool {
	failed, ok := errors.AsType[*cardgateway.QueryError](err)
	return ok && (failed.HTTPStatus == http.StatusUnauthorized || failed.HTTPStatus == http.StatusForbidden ||
		failed.Code == cardgateway.CodeUnauthorized)
}
