package shopjournal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Why returns the reason for the state of an entry, in a few words.
func Why(e *journal.Entry) string {
	code := codeOf(e)
	open := func(text string) string { // for an entry that is not acknowledged
		if e.Unacked() {
			return text
		}
		return ""
	}
	switch e.State() {
	case journal.Conflicting:
		return "contradictory outcomes" + open("; needs manual review")
	case journal.NotSent:
		if slices.ContainsFunc(e.Evidence, func(ev journal.Evidence) bool { return ev.Invalid }) {
			return "the request is invalid; nothing was sent"
		}
		return "proved that nothing was sent"
	case journal.Refused:
		refused, _ := errors.AsType[*cardgateway.RefusedError](e.Err())
		return refusalText(refused.HTTPStatus, refused.Code)
	case journal.PresumedAbsent:
		return "the gateway does not know it" + lastFailure(e)
	case journal.Pending:
		return pendingText(code)
	case journal.Abandoned:
		return "the cardholder did not finish the hosted page"
	case journal.Tested:
		return fmt.Sprintf("code %d, marked as a test: not paid", code) + open(", not acknowledged")
	case journal.Declined, journal.Succeeded:
		return fmt.Sprintf("code %d", code) + open(", not acknowledged")
	}
	return unknownText(e) + lastFailure(e)
}

// codeOf returns the code of the outcome of an entry, or zero.
func codeOf(e *journal.Entry) cardgateway.Code {
	if t := e.Transaction(); t != nil {
		return t.Code
	}
	if r := e.Refund(); r != nil {
		return r.Code
	}
	return 0
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
		return fmt.Sprintf("waiting for the cardholder (code %d)", code)
	case cardgateway.CodeFailed:
		return fmt.Sprintf("a card was declined (code %d), the cardholder can try another one", code)
	}
	return fmt.Sprintf("in processing (code %d)", code)
}

func unknownText(e *journal.Entry) string {
	if isSeen(e) {
		return "the gateway knows the id, but the outcome is not certain"
	}
	sender := e.Intent().Sender
	if slices.ContainsFunc(e.Evidence, func(ev journal.Evidence) bool {
		return ev.Source == journal.SourceAnswer && ev.Sender == sender
	}) {
		return "the call ended with an unknown outcome"
	}
	return "no response is recorded: it is in flight, or the program ended"
}

// isSeen reports whether the gateway has returned the id without a certain outcome.
func isSeen(e *journal.Entry) bool {
	return slices.ContainsFunc(e.Evidence, func(ev journal.Evidence) bool { return ev.Seen })
}

// lastFailure returns why the last query failed, for an entry returned by Recover.
func lastFailure(e *journal.Entry) string {
	why := e.LastQueryError()
	if why == nil {
		return ""
	}
	return "; the query failed: " + exit.Explain(why).Text
}
