package sandbox

import (
	"strconv"
	"strings"
	"time"
)

// A Fault disturbs some requests. The first group of fields chooses them, the second says what happens. The two
// halves of a failure are independent: whether the operation was carried out (Commit), and what the
// caller gets to see of it (Reply and Status). The zero Fault disturbs nothing, once.
type Fault struct {
	// Operation is the operation that is disturbed, or one of the groups OpPayments and OpSearches. Empty
	// means every operation; the hosted pages are never disturbed.
	Operation Operation
	// TransactionID restricts the fault to requests that carry this transactionId, or refundTransactionId.
	TransactionID string
	// Skip lets so many matching requests pass first.
	Skip int
	// Times is how many requests are disturbed. Zero means one, negative means every one.
	Times int
	// OneIn disturbs only one matching request in so many, drawn by Options.Seed. Zero and one mean each.
	OneIn int
	// For ends the fault so long after Inject. Zero means never.
	For time.Duration

	// Before is how long the request waits before it is carried out.
	Before time.Duration
	// Commit says whether the operation is carried out. Zero means that it is.
	Commit Commit
	// Late is when, with CommitLate, the operation is carried out, counted from the end of Before.
	Late time.Duration
	// After is how long the response waits once the operation has been dealt with.
	After time.Duration
	// Reply is what becomes of the response. Zero leaves it as it is.
	Reply Reply
	// Code puts the JSON refusal with this result code in the place of the response, for example 201 for a merchant
	// who is not active, 122 for a failed query, or 999. With CommitNow the operation is carried out all the same.
	// Zero means the response of the operation.
	Code int

	// Status is the HTTP status of the response, from 200 to 999. Zero means 200, or 307 for ReplyRedirect, or 504 where the
	// operation was not carried out, Reply is ReplyAsIs and Code is zero.
	Status int
	// RetryAfter is that header's value, sent as it is.
	RetryAfter string
	// Location is where ReplyRedirect points. Empty means the request's own URL.
	Location string
}

// describe says in a few words what the fault does, for the log.
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
	CommitNow   Commit = iota // before the response, as always
	CommitNever               // not at all
	CommitLate                // after Fault.Late, while the response already goes out
)

// Reply is what the caller of a disturbed operation gets.
type Reply int

const (
	ReplyAsIs      Reply = iota // the response, with Fault.Status; a JSON system error if nothing was carried out
	ReplyClose                  // the connection is closed without a response
	ReplyReset                  // the connection is reset without a response
	ReplyCutHeader              // the connection is closed in the middle of the headers
	ReplyCutBody                // the connection is closed in the middle of the body
	ReplyTruncated              // half of the JSON, complete as far as HTTP can tell
	ReplyEmpty                  // no body
	ReplyHTML                   // a page for people
	ReplyGarbage                // bytes that are no text
	ReplyForeign                // a well-formed success of another transaction
	ReplyNoCode                 // the response without its code member
	ReplyRedirect               // an HTTP redirect to Fault.Location
)

// activeFault is an injected Fault with what is left of it.
type activeFault struct {
	Fault
	number int // of the faults injected so far, this one included
	left   int // negative: without end
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

// String returns the name, as the control interface uses it.
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
