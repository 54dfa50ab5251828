package clienttest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cardgateway/cardgateway-go"
)

// ResponseFor returns the body of a valid response for Amount; more is appended as members.
func ResponseFor(id string, code cardgateway.Code, more string) string {
	return fmt.Sprintf(`{"code":%d,"message":"text","uniqueId":"2018062815300001","transactionId":%q,`+
		`"transactionAmount":"12.50","transactionCurrency":"USD","redirectUrl":"https://pay.example/p"%s}`, code, id, more)
}

// Outcome returns the outcome of a payment call in one word.
func Outcome(t *cardgateway.Transaction, err error) string {
	names := map[error]string{
		cardgateway.ErrNotSent: "not sent", cardgateway.ErrDeclined: "declined", cardgateway.ErrRefused: "refused",
		cardgateway.ErrOutcomeUnknown: "unknown", cardgateway.ErrInvalidRequest: "invalid", cardgateway.ErrConflict: "conflict",
		cardgateway.ErrNotFound: "not found", cardgateway.ErrTestPayment: "test",
	}
	for sentinel, name := range names {
		if errors.Is(err, sentinel) {
			return name
		}
	}
	switch {
	case err != nil:
		return err.Error()
	case t.State() == cardgateway.StateApproved:
		return "paid"
	}
	return t.State().String()
}

var sentinels = []error{
	cardgateway.ErrInvalidRequest, cardgateway.ErrNotSent, cardgateway.ErrDeclined, cardgateway.ErrRefused,
	cardgateway.ErrOutcomeUnknown, cardgateway.ErrConflict, cardgateway.ErrNotFound, cardgateway.ErrQueryFailed,
	cardgateway.ErrTestPayment, cardgateway.ErrUnsettled, cardgateway.ErrUnreadableRows,
}

// CheckOneSentinel fails the test unless an error of an operation is exactly one of the sentinels.
func CheckOneSentinel(t testing.TB, err error) {
	t.Helper()
	var is []error
	for _, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			is = append(is, sentinel)
		}
	}
	if err != nil && len(is) != 1 {
		t.Errorf("%v is %v, want exactly one of them", err, is)
	}
}

// Problems returns the violations that an error reports, as "path rule".
func Problems(err error) (list []string) {
	if invalid, ok := errors.AsType[*cardgateway.ValidationError](err); ok {
		for _, p := range invalid.Problems {
			list = append(list, p.Field+" "+p.Rule)
		}
	}
	return list
}
