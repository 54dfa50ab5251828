package faults

import (
	"hash/fnv"
	"math/rand/v2"
)

// Fault is one way in which a request can fail. Whether the operation is carried out and what response the caller gets are
// independent.
type Fault struct {
	Name string
	Exec Exec
	Cut  Cut
	Body Body
	// Status is the HTTP status of the response; zero means 200.
	Status int
	// Slow delays the response until the caller has timed out.
	Slow bool
}

func (f *Fault) String() string {
	if f == nil {
		return "every fault"
	}
	return f.Name
}

// Exec says whether, and when, the operation is carried out.
type Exec int

// When an operation is carried out.
const (
	ExecNow   Exec = iota
	ExecNever      // not at all
	ExecLate       // after the caller has timed out
)

// Cut says where the connection is cut.
type Cut int

// Where a connection is cut.
const (
	CutNowhere   Cut = iota
	CutRequest       // reset after half of the request
	CutReset         // reset without a response
	CutClose         // closed without a response
	CutHeader        // closed within the headers of the response
	CutBodyReset     // reset within the body of the response
	CutBodyClose     // closed within the body of the response
	CutHang          // left open without a response
)

// Body says what body the response has.
type Body int

// Bodies of a response.
const (
	BodyAsIs      Body = iota // the gateway's response; an HTML page if the operation was not carried out
	BodyTruncated             // half of the JSON, with a matching Content-Length
	BodyEmpty
	BodyHTML
	BodyForeign // a well-formed success for another transaction
	BodyNoCode  // without the code
	BodyError   // JSON with code 999
)

// PaymentFaults returns the faults of payments.
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

// QueryFaults returns the faults of queries.
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

// draw returns a random source that depends only on the seed and the request, not on when the request arrived.
func draw(seed uint64, id string, kind byte, nth int) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write(append([]byte(id), kind, byte(nth), byte(nth>>8))) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
