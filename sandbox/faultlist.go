package sandbox

import "time"

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
