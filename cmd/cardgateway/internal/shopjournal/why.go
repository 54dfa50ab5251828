package shopjournal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Why says in a few words what the state of an entry rests on.
func Why(e *journal.Entry) string {
	code, err := outcomeOf(e)
	if e.Conflict() {
		return "outcomes that cannot all be true; a person has to look"
	}
	switch e.State() {
	case journal.NotSent:
		if slices.ContainsFunc(e.Evidence, func(ev journal.Evidence) bool { return ev.Invalid }) {
			return "it violated a limit, and nothing was sent"
		}
		return "it is proved that nothing was sent"
	case journal.Refused:
		refused, _ := errors.AsType[*cardgateway.RefusedError](err)
		return refusalText(refused.HTTPStatus, refused.Code)
	case journal.PresumedAbsent:
		return "the gateway does not know it" + lastFailure(err)
	case journal.Pending:
		return pendingText(code)
	case journal.Abandoned:
		return "the cardholder has not come"
	case journal.Declined, journal.Succeeded:
		return fmt.Sprintf("code %d, not acknowledged", code)
	}
	return unknownText(e) + lastFailure(err)
}

// outcomeOf returns the code on which the state of an entry rests, and its error.
func outcomeOf(e *journal.Entry) (code cardgateway.Code, err error) {
	var t *cardgateway.Transaction
	var r *cardgateway.Refund
	if e.RefundTransactionID() != "" {
		r, err = e.RefundOutcome()
	} else {
		t, err = e.Outcome()
	}
	switch {
	case t != nil:
		code = t.Code
	case r != nil:
		code = r.Code
	}
	return code, err
}

func refusalText(status int, code cardgateway.Code) string {
	text := fmt.Sprintf("HTTP %d", status)
	if code != 0 {
		text += fmt.Sprintf(", code %d", code)
	}
	return text
}

func pendingText(code cardgateway.Code) string {
	switch code {
	case cardgateway.CodeRedirect:
		return fmt.Sprintf("it waits for the cardholder (code %d)", code)
	case cardgateway.CodeFailed:
		return fmt.Sprintf("a card was declined (code %d), another one can be tried", code)
	}
	return fmt.Sprintf("in processing (code %d)", code)
}

func unknownText(e *journal.Entry) string {
	if isSeen(e) {
		return "the gateway shows the id, and nothing certain of it"
	}
	sender := e.Intent().Sender
	if slices.ContainsFunc(e.Evidence, func(ev journal.Evidence) bool {
		return ev.Source == journal.SourceAnswer && ev.Sender == sender
	}) {
		return "its call ended without a certain answer"
	}
	return "no response is recorded: it is in flight, or its program died"
}

// isSeen reports whether the gateway has shown the id in a form that says nothing certain.
func isSeen(e *journal.Entry) bool {
	return slices.ContainsFunc(e.Evidence, func(ev journal.Evidence) bool { return ev.Seen })
}

// lastFailure is why the gateway could not be asked, in an entry that Recover gives.
func lastFailure(err error) string {
	unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
	if !ok {
		return ""
	}
	causes, ok := unknown.Cause.(interface{ Unwrap() []error })
	if !ok {
		return ""
	}
	all := causes.Unwrap()
	return "; the query failed: " + exit.Explain(all[len(all)-1]).Text
}
