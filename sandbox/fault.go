package sandbox

import (
	"strconv"
	"strings"
	"time"
)

// A Fault disturbs some requests. The first group of fields selects the requests, the second says what happens to them. Two
// things are independent: whether the operation is carried out (Commit), and what response the caller gets (Reply, Code and
// Status). The zero Fault applies to one request and changes nothing.
type Fault struct {
	// Operation is the operation that is disturbed, or one of the groups OpPayments and OpSearches. Empty means every
	// operation; the hosted pages are never disturbed.
	Operation Operation
	// TransactionID restricts the fault to requests that have this transactionId or refundTransactionId.
	TransactionID string
	// Skip is how many matching requests are not disturbed first.
	Skip int
	// Times is how many requests are disturbed. Zero means one, negative means every one.
	Times int
	// OneIn disturbs only one matching request in so many, selected with Options.Seed. Zero and one mean every one.
	OneIn int
	// For is how long after Inject the fault is active. Zero means without limit.
	For time.Duration

	// Before is how long the request waits before the operation is carried out.
	Before time.Duration
	// Commit says whether the operation is carried out. Zero means that it is.
	Commit Commit
	// Late is when, with CommitLate, the operation is carried out, counted from the end of Before.
	Late time.Duration
	// After is how long the response waits after the operation was carried out, or skipped.
	After time.Duration
	// Reply selects what happens to the response. Zero leaves it unchanged.
	Reply Reply
	// Code replaces the response by the JSON refusal with this result code, for example 201 for an inactive merchant, 122
	// for a failed query, or 999. With CommitNow the operation is carried out all the same. Zero means the response of the
	// operation.
	Code int

	// Status is the HTTP status of the response, from 200 to 999. Zero means 200, or 307 for ReplyRedirect, or 504 if the
	// operation was not carried out, Reply is ReplyAsIs and Code is zero.
	Status int
	// RetryAfter is the value of the Retry-After header, sent as it is. Empty means no such header.
	RetryAfter string
	// Location is the target of ReplyRedirect. Empty means the request's own URL.
	Location string
}

// describe returns a short description of the fault, for the log.
func (f *Fault) describe() string {
	words := []string{map[Commit]string{CommitNow: "carried out", CommitNever: "not carried out", CommitLate: "carried out late"}[f.Commit]}
	if f.Before > 0 || f.After > 0 {
		words = append(words, "delayed")
	}
	if f.Reply != ReplyAsIs {
		words = append(words, "reply "+f.Reply.String())
	}
	if f.Code != 0 {
		words = append(words, "code "+strconv.Itoa(f.Code))
	}
	if f.Status != 0 {
		words = append(words, "HTTP "+strconv.Itoa(f.Status))
	}
	return strings.Join(words, ", ")
}

// Commit says whether, and when, a disturbed operation is carried out.
type Commit int

const (
	CommitNow   Commit = iota // before the response, as without a fault
	CommitNever               // not at all
	CommitLate                // after Fault.Late, without delaying the response
)

// Reply is the response that the caller of a disturbed operation gets.
type Reply int

const (
	ReplyAsIs      Reply = iota // the response, with Fault.Status; a JSON system error if nothing was carried out
	ReplyClose                  // the connection is closed without a response
	ReplyReset                  // the connection is reset without a response
	ReplyCutHeader              // the connection is closed in the middle of the headers
	ReplyCutBody                // the connection is closed in the middle of the body
	ReplyTruncated              // half of the JSON, as a complete HTTP response
	ReplyEmpty                  // no body
	ReplyHTML                   // an HTML page
	ReplyGarbage                // bytes that are not text
	ReplyForeign                // a well-formed success for another transaction
	ReplyNoCode                 // the response without its code member
	ReplyRedirect               // an HTTP redirect to Fault.Location
)

// activeFault is an injected Fault with its remaining uses.
type activeFault struct {
	Fault
	number int // counts all faults injected so far, including this one
	left   int // remaining uses; negative: unlimited
	seen   int // matching requests so far
	until  time.Time
}

func (a *activeFault) matches(c *call, now time.Time) bool {
	if !a.until.IsZero() && !now.Before(a.until) {
		return false
	}
	return a.Operation.covers(c.op) && (a.TransactionID == "" || a.TransactionID == c.transactionID)
}

func commitNames() []string { return []string{"now", "never", "late"} }

func replyNames() []string {
	return []string{
		"asIs", "close", "reset", "cutHeader", "cutBody", "truncated", "empty", "html", "garbage", "foreign", "noCode",
		"redirect",
	}
}

// String returns the name: now, never or late.
func (c Commit) String() string { return nameOf(commitNames(), int(c)) }

// String returns the name that the control API uses.
func (r Reply) String() string { return nameOf(replyNames(), int(r)) }

// MarshalText returns the name.
func (c Commit) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name: now, never or late.
func (c *Commit) UnmarshalText(text []byte) error { return choose(c, commitNames(), text) }

// MarshalText returns the name.
func (r Reply) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a name: asIs, close, reset, cutHeader, cutBody, truncated, empty, html, garbage, foreign, noCode
// or redirect.
func (r *Reply) UnmarshalText(text []byte) error { return choose(r, replyNames(), text) }
