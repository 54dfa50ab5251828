package sandbox

import (
	"errors"
	"fmt"
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
	Operation Operation `json:"operation"`
	// TransactionID restricts the fault to requests that have this transactionId or refundTransactionId.
	TransactionID string `json:"transactionId"`
	// Skip is how many matching requests are not disturbed first.
	Skip int `json:"skip"`
	// Times is how many requests are disturbed. Zero means one, negative means every one.
	Times int `json:"times"`
	// OneIn disturbs only one matching request in so many, selected with Options.Seed. Zero and one mean every one.
	OneIn int `json:"oneIn"`
	// For is how long after Inject the fault is active. Zero means without limit.
	For time.Duration `json:"for"`

	// Before is how long the request waits before the operation is carried out.
	Before time.Duration `json:"before"`
	// Commit says whether the operation is carried out. Zero means that it is.
	Commit Commit `json:"commit"`
	// Late is when, with CommitLate, the operation is carried out, counted from the end of Before.
	Late time.Duration `json:"late"`
	// After is how long the response waits after the operation was carried out, or skipped.
	After time.Duration `json:"after"`
	// Reply selects what happens to the response. Zero leaves it unchanged.
	Reply Reply `json:"reply"`
	// Code replaces the response by the JSON refusal with this result code, for example 201 for an inactive merchant, 122
	// for a failed query, or 999. With CommitNow the operation is carried out all the same. Zero means the response of the
	// operation.
	Code int `json:"code"`

	// Status is the HTTP status of the response, from 200 to 999. Zero means 200, or 307 for ReplyRedirect, or 504 if the
	// operation was not carried out, Reply is ReplyAsIs and Code is zero.
	Status int `json:"status"`
	// RetryAfter is the value of the Retry-After header, sent as it is. Empty means no such header.
	RetryAfter string `json:"retryAfter"`
	// Location is the target of ReplyRedirect. Empty means the request's own URL.
	Location string `json:"location"`
}

// check returns an error if no request could match the fault, or its status cannot be sent.
func (f *Fault) check() error {
	switch {
	case !f.Operation.known():
		return fmt.Errorf("there is no operation %.40q; known are %s", f.Operation, strings.Join(operationNames(), ", "))
	case f.Status != 0 && (f.Status < 200 || f.Status > 999): // net/http writes no others
		return errors.New("status is not an HTTP status from 200 to 999")
	}
	return nil
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

// NamedFault is a Fault with a name, for table-driven tests.
type NamedFault struct {
	Name string
	Fault
}

// Faults returns the faults that a client has to tolerate, each for one request. Commit says whether the operation is
// carried out; use Executed to check it. The slow faults take wait: choose it longer than the client's timeout.
func Faults(wait time.Duration) []NamedFault {
	return []NamedFault{
		{"carried out, then closed", Fault{Reply: ReplyClose}},
		{"carried out, then reset", Fault{Reply: ReplyReset}},
		{"carried out, cut in the headers", Fault{Reply: ReplyCutHeader}},
		{"carried out, cut in the body", Fault{Reply: ReplyCutBody}},
		{"carried out, truncated JSON", Fault{Reply: ReplyTruncated}},
		{"carried out, empty body", Fault{Reply: ReplyEmpty}},
		{"carried out, HTML with 200", Fault{Reply: ReplyHTML}},
		{"carried out, garbage", Fault{Reply: ReplyGarbage}},
		{"carried out, no code", Fault{Reply: ReplyNoCode}},
		{"carried out, another transaction's response", Fault{Reply: ReplyForeign}},
		{"carried out, 500 with JSON", Fault{Status: 500}},
		{"carried out, 502 with HTML", Fault{Status: 502, Reply: ReplyHTML}},
		{"carried out, 504 with HTML", Fault{Status: 504, Reply: ReplyHTML}},
		{"carried out, redirected to itself", Fault{Reply: ReplyRedirect}},
		{"carried out, 302", Fault{Reply: ReplyRedirect, Status: 302}},
		{"carried out at once, answered late", Fault{After: wait}},
		{"carried out late, answered late", Fault{Before: wait}},
		{"carried out late, 504 now", Fault{Commit: CommitLate, Late: wait}},
		{"not carried out, closed", Fault{Commit: CommitNever, Reply: ReplyClose}},
		{"not carried out, reset", Fault{Commit: CommitNever, Reply: ReplyReset}},
		{"not carried out, never answered", Fault{Commit: CommitNever, Before: wait, Reply: ReplyClose}},
		{"not carried out, 429", Fault{Commit: CommitNever, Status: 429, RetryAfter: "1"}},
		{"not carried out, 500 with JSON", Fault{Commit: CommitNever, Status: 500}},
		{"not carried out, 503 with HTML", Fault{Commit: CommitNever, Status: 503, Reply: ReplyHTML}},
		{"not carried out, HTML with 200", Fault{Commit: CommitNever, Reply: ReplyHTML}},
		{"not carried out, redirected to itself", Fault{Commit: CommitNever, Reply: ReplyRedirect}},
		{"not carried out, another transaction's response", Fault{Commit: CommitNever, Reply: ReplyForeign}},
	}
}
