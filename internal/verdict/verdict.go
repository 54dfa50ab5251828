// Package verdict says what one response means for the payment or the refund that was sent: it was taken, declined,
// refused, provably not sent, or nobody knows. It is a pure function of what was observed.
package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// Response is what the last attempt observed.
type Response struct {
	Status  int
	Body    []byte
	Unsent  bool  // it is proved that nothing was submitted
	Invalid bool  // Failure is a refusal of this side, for a reason that stays
	Failure error // why no usable response came
}

// Statement is what a response says about itself: enough to decide what it means, whether a payment or a refund was sent.
type Statement struct {
	Unreadable  error // why there is no statement; nothing else is set then
	Code        int
	State       State
	Refuses     bool  // gateways publish the code for what they did not process
	Named       bool  // it has the merchant's id that was sent, or another
	Contradicts bool  // an id, the amount, the currency or the app is not what was sent
	Anonymous   bool  // it says nothing that could belong to anything else
	Assigned    bool  // it has an id that the gateway gave, so that something exists
	Bad         error // why the first essential member that could not be read could not
	BadRedirect bool  // there is an address to which nobody should be sent
	HasRedirect bool  // there is one to send the cardholder to
}

// State is what the code of a response or of a row says.
type State int

// A response or a row is in one of these states.
const (
	Unclear    State = iota // a code that says nothing certain
	Approved                // it was done, and money moved
	Declined                // it was declined
	Processing              // it was accepted, the outcome comes later
	Redirect                // it waits for the cardholder
)

// Shows reports whether a response shows that the gateway has what it names, whatever became of that.
func (s *Statement) Shows() bool {
	return s.Named && (s.Assigned || s.State != Unclear && s.State != Declined)
}

// Verdict is what became of what was sent.
type Verdict int

// The verdicts.
const (
	Unknown     Verdict = iota // it may have happened
	Taken                      // the gateway took it
	WasDeclined                // the gateway declined it
	Refused                    // the gateway did not process it
	NotSent                    // provably nothing was submitted
	Invalid                    // this side refused, for a reason that stays
)

// Why a verdict is Unknown.
var (
	ErrUnclear  = errors.New("the response has a code that does not tell the outcome")
	ErrNotOurs  = errors.New("the response is about another transaction")
	errRedirect = errors.New("the response's redirectUrl is not an absolute http or https URL without user info")
	errNowhere  = errors.New("the response asks for a redirect and has no redirectUrl")
	errNobodys  = errors.New("the response does not say which transaction it is about")
)

// Of says what the last attempt means, and why where it is not clear. A response is believed only if it came whole, with
// HTTP 200 and about the very thing that was sent; of everything else that could have reached the gateway the outcome is
// unknown.
func Of(r *Response, says *Statement) (Verdict, error) {
	switch {
	case r.Failure != nil && r.Invalid:
		return Invalid, r.Failure
	case r.Failure != nil:
		return r.unsentOr(Unknown), r.Failure
	case IsRefusalStatus(r.Status):
		if !refuses(r, says) {
			return Unknown, fmt.Errorf("HTTP %d with a response that is no refusal", r.Status)
		}
		return Refused, nil
	case r.Status != http.StatusOK:
		return r.unsentOr(Unknown), fmt.Errorf("HTTP %d%s", r.Status, Hint(r.Status, r.Body))
	case says.Unreadable != nil:
		return Unknown, fmt.Errorf("%w%s", says.Unreadable, Hint(r.Status, r.Body))
	case says.Bad != nil:
		return Unknown, says.Bad
	case says.BadRedirect:
		return Unknown, errRedirect
	case says.Contradicts:
		return Unknown, ErrNotOurs
	case says.State == Declined && (says.Named || says.Anonymous):
		return WasDeclined, nil
	case says.Refuses && !says.Assigned:
		return Refused, nil
	case says.State == Unclear:
		return Unknown, ErrUnclear
	case !says.Named:
		return Unknown, errNobodys
	case says.State == Redirect && !says.HasRedirect:
		return Unknown, errNowhere
	}
	return Taken, nil
}

// unsentOr returns NotSent if it is proved that nothing was sent, and otherwise what it is given.
func (r *Response) unsentOr(otherwise Verdict) Verdict {
	if r.Unsent {
		return NotSent
	}
	return otherwise
}

// IsRefusalStatus lists the statuses with which a server says that it did not take a request. 408 is not among them:
// what timed out may be the response of a server behind the first.
func IsRefusalStatus(status int) bool {
	return slices.Contains([]int{400, 401, 403, 404, 405, 413, 415, 422, 429}, status)
}

// refuses reports whether the body of a 4xx response agrees that nothing was processed. It is empty or a page for people;
// or an object without an id of the gateway's that contradicts nothing, and whose code, if any, is a refusal, a decline or
// the status once more.
func refuses(r *Response, says *Statement) bool {
	if says.Unreadable != nil {
		text := trimmed(r.Body)
		return !bytes.HasPrefix(text, []byte("{")) && !bytes.Contains(bytes.ToLower(text), []byte("uniqueid"))
	}
	known := says.Code == 0 || says.Refuses || says.State == Declined || says.Code == r.Status
	return known && says.Bad == nil && !says.Assigned && !says.Contradicts
}

// Hint says what to check if a response does not come from the gateway itself. It continues the text of an error.
func Hint(status int, body []byte) string {
	text := bytes.ToLower(trimmed(body[:min(len(body), 1024)]))
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

// trimmed returns a body without a byte order mark and the white space around it.
func trimmed(body []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\uFEFF")))
}
