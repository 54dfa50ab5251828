// Package verdict determines what a response means for the payment or the refund that was sent: accepted, declined,
// refused, provably not sent, or unknown. It is a pure function of what was observed.
package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
)

// Response is what the last attempt observed.
type Response struct {
	Status   int
	Body     []byte
	MayBeCut bool  // it has ended with the connection: only a whole JSON value, or a page that has its end, is known to be all of it
	Unsent   bool  // it is proved that nothing was sent
	Invalid  bool  // Failure is an error of this side that would occur again
	Failure  error // why no usable response came
}

// Statement is what a response says about itself: enough to determine what it means, for payments and refunds.
type Statement struct {
	Unreadable    error // why there is no statement; nothing else is set then
	Code          int
	State         State
	Refuses       bool  // the code is published for requests that were not processed
	HasMerchantID bool  // it has a merchant's id, the one that was sent or another
	Contradicts   error // ErrNotOurs or ErrOtherApp if an id, the amount, the currency or the app differs from what was sent
	NamesNothing  bool  // it has nothing that could belong to another transaction
	HasGatewayID  bool  // it has an id of the gateway, so something exists
	Bad           error // why an essential member could not be read; the first one
	BadRedirect   bool  // redirectUrl is not a URL to which a cardholder may be redirected
	HasRedirect   bool  // it has a valid redirectUrl
}

// State is the meaning of the code of a response or of a row. Its values are those of cardgateway.State, which converts to it.
type State int

// A response or a row is in one of these states.
const (
	Unclear    State = iota // a code that does not tell the outcome
	Approved                // it was done, and money moved
	Declined                // it was declined
	Processing              // it was accepted, the outcome follows
	Redirect                // it waits for the cardholder
)

// Shows reports whether a response shows that the payment or refund exists at the gateway, whatever its outcome.
func (s *Statement) Shows() bool {
	return s.HasMerchantID && (s.HasGatewayID || s.State != Unclear && s.State != Declined)
}

// Verdict is the outcome of what was sent.
type Verdict int

// The verdicts.
const (
	Unknown     Verdict = iota // it may have happened
	Accepted                   // the gateway accepted it
	WasDeclined                // the gateway declined it
	Refused                    // the gateway did not process it
	NotSent                    // provably nothing was sent
	Invalid                    // this side refused, and would refuse again
)

// Why a verdict is Unknown.
var (
	ErrUnclear  = errors.New("the response has a code that does not tell the outcome")
	ErrNotOurs  = errors.New("the response is about another transaction")
	ErrOtherApp = errors.New("the response states another appId than Config.AppID")
	errRedirect = errors.New("the response's redirectUrl is not an absolute http or https URL without user info")
	errNowhere  = errors.New("the response asks for a redirect and has no redirectUrl")
	errUnread   = errors.New("a response came although nothing of the request's body was read: it answers something else")
	ErrNobodys  = errors.New("the response does not say which transaction it is about")
)

// Of returns what the last attempt means and, if the verdict is not Accepted, WasDeclined or Refused, why. A response is
// trusted only if it was received completely, with HTTP 200 and about what was sent; for everything else that may have
// reached the gateway the outcome is unknown.
func Of(r *Response, says *Statement) (Verdict, error) {
	switch {
	case r.Invalid:
		return Invalid, r.Failure
	case r.Failure != nil:
		return r.failed(), r.Failure
	case IsRefusalStatus(r.Status):
		if !refuses(r, says) {
			return r.failed(), fmt.Errorf("HTTP %d with a response that is no refusal", r.Status)
		}
		return Refused, nil
	case r.Status != http.StatusOK:
		return r.failed(), fmt.Errorf("HTTP %d%s", r.Status, Hint(r.Status, r.Body))
	case r.Unsent:
		return NotSent, errUnread
	case says.Unreadable != nil:
		return Unknown, fmt.Errorf("%w%s", says.Unreadable, Hint(r.Status, r.Body))
	case says.Bad != nil:
		return Unknown, says.Bad
	case says.BadRedirect:
		return Unknown, errRedirect
	case says.Contradicts != nil:
		return Unknown, says.Contradicts
	case says.State == Declined && (says.HasMerchantID || says.NamesNothing && r.denies()):
		return WasDeclined, nil
	case says.Refuses && !says.HasGatewayID && r.denies():
		return Refused, nil
	case says.State == Unclear:
		return Unknown, ErrUnclear
	case !says.HasMerchantID:
		return Unknown, ErrNobodys
	case says.State == Redirect && !says.HasRedirect:
		return Unknown, errNowhere
	}
	return Accepted, nil
}

// failed returns the verdict without a usable response: NotSent if it is proved that nothing was sent.
func (r *Response) failed() Verdict {
	if r.Unsent {
		return NotSent
	}
	return Unknown
}

// Hint says what to check if a response does not come from the gateway itself. It continues the text of an error.
func Hint(status int, body []byte) string {
	text := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(body[:min(len(body), 1024)], []byte("\uFEFF"))))
	isPage := bytes.HasPrefix(text, []byte("<"))
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		return "" // a response of the gateway
	case bytes.Contains(text, []byte("https server")), bytes.Contains(text, []byte("https port")):
		return ", plain http sent to a TLS port; does Config.BaseURL begin with https?"
	case 300 <= status && status < 400:
		return ", a redirect, which is not followed; is Config.BaseURL right?"
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, isPage && status < 500:
		return "; it does not look like a response of the gateway: is Config.BaseURL right?"
	}
	return ""
}
