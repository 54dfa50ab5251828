package faults

import (
	"hash/fnv"
	"math/rand/v2"
)

// Fault is one way in which a request can go wrong. Whether the operation is carried out and what the caller gets to
// see of it are independent.
type Fault struct {
	Name string
	Exec Exec
	Cut  Cut
	Body Body
	// Status is that of the answer; zero means 200.
	Status int
	// Slow has the answer wait until the caller has given up.
	Slow bool
}

// Exec says whether, and when, the operation is carried out.
type Exec int

// When an operation is carried out.
const (
	ExecNow   Exec = iota
	ExecNever      // not at all
	ExecLate       // after the caller has given up
)

// Cut says where the connection ends.
type Cut int

// Where a connection ends.
const (
	CutNowhere   Cut = iota
	CutRequest       // reset after half of the request
	CutReset         // reset without an answer
	CutClose         // closed without an answer
	CutHeader        // closed in the headers of the answer
	CutBodyReset     // reset in the body of the answer
	CutBodyClose     // closed in the body of the answer
	CutHang          // left open without an answer
)

// Body says what the answer holds.
type Body int

// What an answer holds.
const (
	BodyAsIs      Body = iota // what the gateway said; a page for people if it was not asked
	BodyTruncated             // half of the JSON, with a length that fits
	BodyEmpty
	BodyHTML
	BodyForeign // a well-formed success of another transaction
	BodyNoCode  // without the code
	BodyError   // JSON that says 999
)

// PaymentFaults are the points at which a payment breaks.
func PaymentFaults() []Fault {
	return []Fault{
		{Name: "cut mid request", Exec: ExecNever, Cut: CutRequest},
		{Name: "executed, reset", Cut: CutReset},
		{Name: "executed, closed", Cut: CutClose},
		{Name: "taken by a middlebox that dies", Exec: ExecNever, Cut: CutReset},
		{Name: "taken and closed", Exec: ExecNever, Cut: CutClose},
		{Name: "cut in the answer's headers", Cut: CutHeader},
		{Name: "cut in the answer's body, reset", Cut: CutBodyReset},
		{Name: "cut in the answer's body, closed", Cut: CutBodyClose},
		{Name: "executed late", Exec: ExecLate, Cut: CutHang},
		{Name: "executed, answered late", Slow: true},
		{Name: "delivered late, closed now", Exec: ExecLate, Cut: CutClose},
		{Name: "black hole", Exec: ExecNever, Cut: CutHang},
		{Name: "502 with a page, executed", Status: 502, Body: BodyHTML},
		{Name: "503 with a page, not executed", Exec: ExecNever, Status: 503, Body: BodyHTML},
		{Name: "504 with a page, executed", Status: 504, Body: BodyHTML},
		{Name: "504 now, executed late", Exec: ExecLate, Status: 504, Body: BodyHTML},
		{Name: "500 with JSON, executed", Status: 500},
		{Name: "500 with JSON, not executed", Exec: ExecNever, Status: 500, Body: BodyError},
		{Name: "429, not executed", Exec: ExecNever, Status: 429, Body: BodyHTML},
		{Name: "200 with half the JSON", Body: BodyTruncated},
		{Name: "200 without a body", Body: BodyEmpty},
		{Name: "200 with a page, executed", Body: BodyHTML},
		{Name: "200 with a page, not executed", Exec: ExecNever, Body: BodyHTML},
		{Name: "another transaction's success", Exec: ExecNever, Body: BodyForeign},
		{Name: "another transaction's success, executed", Body: BodyForeign},
		{Name: "no code", Body: BodyNoCode},
		{Name: "999, executed", Body: BodyError},
	}
}

// QueryFaults are the points at which a query breaks.
func QueryFaults() []Fault {
	return []Fault{
		{Name: "query reset", Exec: ExecNever, Cut: CutReset},
		{Name: "query closed", Exec: ExecNever, Cut: CutClose},
		{Name: "query cut in headers", Cut: CutHeader},
		{Name: "query cut in body", Cut: CutBodyReset},
		{Name: "query 500", Exec: ExecNever, Status: 500, Body: BodyError},
		{Name: "query 502", Exec: ExecNever, Status: 502, Body: BodyHTML},
		{Name: "query 429", Exec: ExecNever, Status: 429, Body: BodyHTML},
		{Name: "query truncated", Body: BodyTruncated},
		{Name: "query empty", Body: BodyEmpty},
		{Name: "query page", Body: BodyHTML},
		{Name: "query no code", Body: BodyNoCode},
		{Name: "query 999", Exec: ExecNever, Body: BodyError},
		{Name: "query slow", Slow: true},
	}
}

// draw returns a stream of chance that depends on the seed and on the request alone, not on when it came.
func draw(seed uint64, id string, kind byte, nth int) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write(append([]byte(id), kind, byte(nth), byte(nth>>8))) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
