package resolve

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"strings"
	"time"
	"unicode"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// Config says what to search for, in rows of type T.
type Config[T any] struct {
	SentAt time.Time     // a time before it was sent, and close to it
	Wait   time.Duration // how long to search, from the start of Run; zero means DefaultWait; there is at least one search
	Seen   bool          // the gateway has returned it before: it is never absent
	// It may have been sent more than once: a decline can be that of a repetition, and of several charges of a subscription each can
	// have begun one. Neither is final then.
	SentAgain bool
	Attempts  bool          // each declined row is one attempt, and another one can be in processing
	Gap       time.Duration // successes that are at least so far apart are charges of one subscription; zero means that they are a conflict

	// Search queries one page, counted from 1, of the rows between two times, which are at most a month apart. An error
	// means that the query failed.
	Search func(ctx context.Context, start, end time.Time, page int) (*Page[T], error)
	// Row returns the meaning of a row.
	Row func(*T) Row
	// NotFinal returns why declined rows, one or more, of what was sent once are not final, or nil if they are.
	NotFinal func(declined []T) error
}

// Page is one page of a search.
type Page[T any] struct {
	Rows       []T
	Total      int           // rows of the whole search, as announced
	Unreadable bool          // there were rows that could not be read
	ClockApart time.Duration // how far this machine's clock is from the gateway's
}

// Row is what a row says about the payment or refund that is searched for.
type Row struct {
	ID        string     // identifies the row
	Generated bool       // the ID is made of other members, because the gateway gave none: several rows can have it
	At        civil.Time // of several declined rows, the latest is returned, and of several charges of a subscription the first
	Code      int
	State     verdict.State
	Ours      bool // it has the ids that were sent
	Alike     bool // it is not ours, or it is under an id that the gateway has changed: see RefundAlike; of refunds only, which belong to one payment
	OtherApp  bool // it states another app: it is another one with the same ids
	Expected  bool // it is not ours, but matches the search, too
	Agrees    bool // its other members are as sent
}

// alike reports whether two ids can be one that a gateway has changed: cut off, in another case, without zeros or marks, quoted, escaped, or
// with a prefix.
func alike(a, b string) bool {
	plain := func(id string) string {
		return strings.ToLower(strings.Map(func(c rune) rune {
			if unicode.IsLetter(c) || unicode.IsDigit(c) {
				return c
			}
			return -1
		}, html.UnescapeString(id)))
	}
	long, short := plain(a), plain(b)
	if len(long) < len(short) {
		long, short = short, long
	}
	return len(short) > 1 && strings.Contains(long, short)
}

// RefundAlike reports whether a refund can be the one with an id: its own id is like it, or that under the second name for it.
func RefundAlike(id, own string, extra map[string]json.RawMessage) bool {
	return alike(own, id) || alike(string(extra["refundTransactionId"]), id)
}

// How long Run searches, and which range.
const (
	DefaultWait = 2 * time.Minute
	Before      = 13 * time.Hour // before SentAt: for UTC-12, and an hour of difference between clocks
	After       = 15 * time.Hour // after now: for UTC+14, and an hour of difference between clocks
	MaxPages    = 50             // per search, not counting the first one of each range; more are needed only if the gateway's filter does not work

	maxYears = 2
	maxApart = time.Hour // of the clocks, for which Before and After allow
)

// Why an outcome stays unknown. ErrMayTryAgain and ErrSeveralDeclined are for the caller's NotFinal.
var (
	ErrDoubtful = errors.New("the search is inconclusive: it returned unreadable rows or those of other transactions, " +
		"rows that contradict each other, or not what it returned before")
	ErrOtherAmount     = errors.New("the gateway has this id with another amount or currency, or without them")
	ErrMayTryAgain     = errors.New("declined so far: the cardholder can try another card on the hosted page")
	ErrSeveralDeclined = errors.New("it was sent once, and declined more than once")
	ErrRepeated        = errors.New("it was sent more than once: a decline may be that of a repetition, and a later charge that of a second subscription")

	errOtherApp   = errors.New("the gateway has this id for another appId than Config.AppID")
	errSeenBefore = errors.New("the gateway has shown this id before, but does not tell its outcome")
	errOtherCode  = errors.New("the gateway has this id with a code, or an isTest, that does not tell the outcome")
	errClock      = errors.New("not found, but the clocks of this machine and the gateway are more than an hour apart: the search may not have reached it")
	errLongAgo    = errors.New("SentAt is too long ago: the search did not reach the present")
)
