package resolve_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/resolve"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// row is a row of the fictitious gateway of these tests.
type row struct{ resolve.Row }

func ours(id string, code int, state verdict.State) row {
	return row{resolve.Row{ID: id, Code: code, State: state, Ours: true, Agrees: true}}
}

var (
	approved   = ours("1", 100, verdict.Approved)
	declined   = ours("2", 101, verdict.Declined)
	processing = ours("3", 102, verdict.Processing)
	redirect   = ours("4", 301, verdict.Redirect)
	unclear    = ours("5", 999, verdict.Unclear)
	foreign    = row{resolve.Row{ID: "6", Code: 100, State: verdict.Approved}}
	expected   = row{resolve.Row{ID: "7", Code: 100, State: verdict.Approved, Expected: true}}
)

func with(r row, change func(*resolve.Row)) row {
	change(&r.Row)
	return r
}

// search is the result of one search in its only month: rows, or an error.
type search struct {
	rows       []row
	more       int // rows that are announced and not returned
	unreadable bool
	err        error
}

func shows(rows ...row) search { return search{rows: rows} }

var errDown = errors.New("down")

func TestRun(t *testing.T) {
	other := with(approved, func(r *resolve.Row) { r.ID = "1b" })
	differs := with(approved, func(r *resolve.Row) { r.Agrees = false })
	for _, tt := range []struct {
		name     string
		searches []search // in sequence; the last one repeats
		seen     bool
		open     bool // a decline is not final
		finding  resolve.Finding
		row      string // id
		nowSeen  bool
		cause    error
	}{
		{"approved", []search{shows(approved)}, false, false, resolve.Found, "1", true, nil},
		{"approved beside a decline", []search{shows(declined, approved, declined)}, false, false, resolve.Found, "1", true, nil},
		{"approved beside another's row", []search{shows(foreign, approved)}, false, false, resolve.Found, "1", true, nil},
		{"approved and in processing", []search{shows(processing, approved)}, false, false, resolve.Found, "1", true, nil},
		{"approved twice", []search{shows(approved, other)}, false, false, resolve.Conflict, "", true, nil},
		{"one row on two pages", []search{shows(approved, approved)}, false, false, resolve.Found, "1", true, nil},
		{"approved at last", []search{shows(), shows(), {err: errDown}, shows(approved)}, false, false, resolve.Found, "1", true, nil},
		{"waits for the cardholder", []search{shows(redirect)}, false, false, resolve.Found, "4", true, nil},
		{"waits for the cardholder beside one in processing", []search{shows(redirect, processing)}, false, false, resolve.Found, "3", true, nil},
		{"waits for the cardholder beside another's row", []search{shows(redirect, foreign)}, false, false, resolve.Found, "4", true, nil},
		{"waits for the cardholder beside another amount", []search{shows(redirect, differs)}, false, false, resolve.Unknown, "", true, resolve.ErrOtherAmount},
		{"waits for the cardholder beside a code that says nothing", []search{shows(redirect, unclear)}, false, false, resolve.Unknown, "", true, nil},
		{
			"waits for the cardholder beside unreadable rows", []search{{rows: []row{redirect}, unreadable: true}}, false, false, resolve.Unknown, "", true,
			resolve.ErrDoubtful,
		},
		{
			"waits for the cardholder beside rows that were not given", []search{{rows: []row{redirect}, more: 1}, shows(redirect)}, false, false,
			resolve.Found, "4", true, nil,
		},
		{"in processing to the end", []search{shows(processing)}, false, false, resolve.Found, "3", true, nil},
		{"in processing, then approved", []search{shows(processing), shows(approved)}, false, false, resolve.Found, "1", true, nil},
		{"in processing beside a decline", []search{shows(processing, declined)}, false, false, resolve.Unknown, "3", true, resolve.ErrDoubtful},

		{"declined", []search{shows(declined)}, false, false, resolve.Declined, "2", true, nil},
		{"declined beside another's row", []search{shows(declined, foreign)}, false, false, resolve.Unknown, "2", true, resolve.ErrDoubtful},
		{"declined beside another's row, then alone", []search{shows(declined, foreign), shows(declined)}, false, false, resolve.Declined, "2", true, nil},
		{
			"in processing, then declined", []search{shows(processing), shows(with(declined, func(r *resolve.Row) { r.ID = "3" }))}, false, false,
			resolve.Declined, "3", true, nil,
		},
		{
			"in processing beside the page, then only the page", []search{shows(redirect, processing), shows(redirect)}, false, false,
			resolve.Found, "3", true, nil,
		},
		{"in processing, then only a decline", []search{shows(processing), shows(declined)}, false, true, resolve.Unknown, "3", true, resolve.ErrDoubtful},
		{"declined beside an expected row", []search{shows(declined, expected)}, false, false, resolve.Declined, "2", true, nil},
		{"declined, and may try again", []search{shows(declined)}, false, true, resolve.Unknown, "2", true, resolve.ErrMayTryAgain},
		{
			"declined beside unreadable rows", []search{{rows: []row{declined}, unreadable: true}}, false, false, resolve.Unknown, "2", true,
			resolve.ErrDoubtful,
		},
		{
			"declined beside rows that were not given", []search{{rows: []row{declined}, more: 1}}, false, false, resolve.Unknown, "2", true,
			resolve.ErrDoubtful,
		},
		{"declined beside a code that says nothing", []search{shows(declined, unclear)}, false, false, resolve.Unknown, "2", true, nil},
		{"declined, then approved", []search{shows(declined), shows(declined, approved)}, false, true, resolve.Found, "1", true, nil},
		{
			"the later of two declines", []search{shows(with(declined, func(r *resolve.Row) { r.At, r.ID = 9, "late" }), declined)}, false, false,
			resolve.Declined, "late", true, nil,
		},
		{
			"the last of two equal declines", []search{shows(declined, with(declined, func(r *resolve.Row) { r.ID = "2b" }))}, false, false,
			resolve.Declined, "2b", true, nil,
		},

		{"nothing", []search{shows()}, false, false, resolve.Absent, "", false, nil},
		{"an expected row", []search{shows(expected)}, false, false, resolve.Absent, "", false, nil},
		{"another's row", []search{shows(foreign)}, false, false, resolve.Unknown, "", false, resolve.ErrDoubtful},
		{"nothing of what was seen", []search{shows()}, true, false, resolve.Unknown, "", true, nil},
		{"a code that says nothing", []search{shows(unclear)}, false, false, resolve.Unknown, "", true, nil},
		{"another amount, then nothing", []search{shows(differs), shows()}, false, false, resolve.Unknown, "", true, nil},
		{"another amount", []search{shows(differs)}, false, false, resolve.Unknown, "", true, resolve.ErrOtherAmount},
		{"another amount beside another's row", []search{shows(foreign, differs, foreign)}, false, false, resolve.Unknown, "", true, resolve.ErrOtherAmount},
		{"unreadable, then nothing", []search{{unreadable: true}, shows()}, false, false, resolve.Unknown, "", true, nil},
		{"announced and not given, then nothing", []search{{more: 1}, shows()}, false, false, resolve.Unknown, "", true, nil},
		{"in processing, then nothing", []search{shows(processing), shows()}, false, false, resolve.Unknown, "3", true, nil},
		{"down", []search{{err: errDown}}, false, false, resolve.Unknown, "", false, errDown},
		{"down, then nothing", []search{{err: errDown}, shows()}, false, false, resolve.Absent, "", false, nil},
		{"declined, then down", []search{shows(declined, foreign), {err: errDown}}, false, false, resolve.Unknown, "2", true, errDown},
		{
			"a row with two codes", []search{shows(approved, with(approved, func(r *resolve.Row) { r.Code = 101 }))}, false, false, resolve.Unknown, "",
			true, resolve.ErrDoubtful,
		},
		{
			"in processing, with two codes", []search{shows(processing, with(processing, func(r *resolve.Row) { r.Code = 100 }))}, false, false,
			resolve.Unknown, "3", true, resolve.ErrDoubtful,
		},
		{
			"waits for the cardholder, with two codes", []search{shows(redirect, with(redirect, func(r *resolve.Row) { r.Code = 100 }))}, false, false,
			resolve.Unknown, "", true, resolve.ErrDoubtful,
		},
		{
			"declined, with two codes", []search{shows(declined, with(declined, func(r *resolve.Row) { r.Code = 100 }))}, false, false, resolve.Unknown,
			"2", true, resolve.ErrDoubtful,
		},
		{"two rows that share an id of ours", []search{shows(
			with(declined, func(r *resolve.Row) { r.Generated = true }), with(declined, func(r *resolve.Row) { r.Generated = true }))},
			false, false, resolve.Declined, "2", true, nil},
		{"two approved that share an id of ours", []search{shows(
			with(approved, func(r *resolve.Row) { r.Generated = true }), with(approved, func(r *resolve.Row) { r.Generated = true }))},
			false, false, resolve.Conflict, "", true, nil},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			sentAt, searches, begun := time.Now(), 0, time.Now()
			got := resolve.Run(t.Context(), &resolve.Config[row]{
				SentAt: sentAt, Seen: tt.seen,
				Search: func(_ context.Context, start, end time.Time, page int) (*resolve.Page[row], error) {
					if page > 1 {
						return new(resolve.Page[row]), nil
					}
					if time.Since(begun) > 0 && start.Equal(sentAt.Add(-resolve.Before)) {
						searches++
					}
					s := tt.searches[min(searches, len(tt.searches)-1)]
					if s.err != nil {
						return nil, s.err
					}
					if !end.After(sentAt) { // a month before
						return new(resolve.Page[row]), nil
					}
					return &resolve.Page[row]{Rows: s.rows, Total: len(s.rows) + s.more, Unreadable: s.unreadable}, nil
				},
				Row: func(r *row) resolve.Row { return r.Row },
				NotFinal: func(declined []row) error {
					if slices.ContainsFunc(declined, func(r row) bool { return r.State != verdict.Declined }) {
						t.Error("a row that is not declined was called declined")
					}
					if tt.open {
						return resolve.ErrMayTryAgain
					}
					return nil
				},
			})
			if got.Finding != tt.finding || got.Seen != tt.nowSeen {
				t.Errorf("got finding %d, seen %t, want %d, %t (cause %v)", got.Finding, got.Seen, tt.finding, tt.nowSeen, got.Cause)
			}
			id := ""
			if got.Row != nil {
				id = got.Row.ID
			}
			if id != tt.row {
				t.Errorf("got row %q, want %q", id, tt.row)
			}
			if tt.cause != nil && got.Cause != tt.cause || (got.Cause != nil) != (got.Finding == resolve.Unknown) {
				t.Errorf("got cause %v, want %v", got.Cause, tt.cause)
			}
			if (len(got.Rows) > 0) != (got.Finding == resolve.Conflict) {
				t.Errorf("got %d conflicting rows", len(got.Rows))
			}
		})
	}
}

// TestRunOfASubscription: approved rows that are far enough apart are later charges, and the first one is the outcome.
func TestRunOfASubscription(t *testing.T) {
	charge := func(id string, at time.Duration) row {
		return with(approved, func(r *resolve.Row) { r.ID, r.At = id, civil.Time(at/time.Second) })
	}
	const day, gap = 24 * time.Hour, 140 * time.Hour
	for _, tt := range []struct {
		name    string
		gap     time.Duration
		again   bool // it may have been sent more than once
		rows    []row
		finding resolve.Finding
		row     string
	}{
		{"no subscription", 0, false, []row{charge("1", day), charge("2", 8*day)}, resolve.Conflict, ""},
		{"one charge", gap, false, []row{charge("1", day)}, resolve.Found, "1"},
		{"the newest first", gap, false, []row{charge("3", 15*day), charge("2", 8*day), charge("1", day)}, resolve.Found, "1"},
		{"a declined later charge", gap, false, []row{charge("1", day), with(declined, func(r *resolve.Row) { r.At = civil.Time(8 * day / time.Second) })},
			resolve.Found, "1"},
		{"just far enough apart", gap, false, []row{charge("1", day), charge("2", day+gap)}, resolve.Found, "1"},
		{"a second too close", gap, false, []row{charge("1", day), charge("2", day+gap-time.Second)}, resolve.Conflict, ""},
		{"charged twice at first", gap, false, []row{charge("3", 8*day), charge("2", day), charge("1", day)}, resolve.Conflict, ""},
		{"a later charge twice", gap, false, []row{charge("1", day), charge("2", 8*day), charge("3", 8*day+time.Hour)}, resolve.Conflict, ""},
		{"a charge without a time", gap, false, []row{charge("1", day), with(approved, func(r *resolve.Row) { r.ID, r.At = "2", civil.None })}, resolve.Conflict, ""},
		{"sent again, one charge", gap, true, []row{charge("1", day)}, resolve.Found, "1"},
		{"sent again, two charges that may be of two subscriptions", gap, true, []row{charge("1", day), charge("2", 8*day)}, resolve.Unknown, ""},
		{"sent again, charged twice at first", gap, true, []row{charge("2", day), charge("1", day)}, resolve.Conflict, ""},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			got := resolve.Run(t.Context(), &resolve.Config[row]{
				SentAt: time.Now(), Wait: 1, Gap: tt.gap, SentAgain: tt.again,
				Search: func(_ context.Context, _, _ time.Time, page int) (*resolve.Page[row], error) {
					return &resolve.Page[row]{Rows: tt.rows, Total: len(tt.rows)}, nil
				},
				Row:      func(r *row) resolve.Row { return r.Row },
				NotFinal: func([]row) error { return nil },
			})
			id := ""
			if got.Row != nil {
				id = got.Row.ID
			}
			if got.Finding != tt.finding || id != tt.row {
				t.Errorf("got finding %d, row %q, want %d, %q", got.Finding, id, tt.finding, tt.row)
			}
		})
	}
}

// TestRunAsks checks how many queries there are, for how long, and for which range.
func TestRunAsks(t *testing.T) {
	for _, tt := range []struct {
		name    string
		age     time.Duration // of what was sent
		wait    time.Duration
		took    time.Duration
		queries [2]int // at least, at most
		absent  bool
	}{
		{"by default", 0, 0, 2 * time.Minute, [2]int{6, 12}, true},
		{"for a minute", 0, time.Minute, time.Minute, [2]int{4, 10}, true},
		{"once", 0, 1, 1, [2]int{1, 4}, true},
		{"20 months", 20 * 30 * 24 * time.Hour, 1, 1, [2]int{23, 46}, true},
		{"too long ago", 30 * 31 * 24 * time.Hour, 1, 1, [2]int{27, 56}, false},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			begun := time.Now()
			sentAt := begun.Add(-tt.age)
			var queries int
			var until time.Time
			got := resolve.Run(t.Context(), &resolve.Config[row]{
				SentAt: sentAt, Wait: tt.wait,
				Search: func(_ context.Context, start, end time.Time, _ int) (*resolve.Page[row], error) {
					queries++
					first := start.Equal(sentAt.Add(-resolve.Before))
					if !first && until.Sub(start) < 2*time.Second { // the gateway may exclude both bounds, which have no fractions
						t.Errorf("%s: a gap before %v", tt.name, start)
					}
					if until = end; end.Sub(start) > 27*24*time.Hour {
						t.Errorf("%s: asked for %v at once", tt.name, end.Sub(start))
					}
					return new(resolve.Page[row]), nil
				},
				Row: func(r *row) resolve.Row { return r.Row },
			})
			took := time.Since(begun)
			if queries < tt.queries[0] || queries > tt.queries[1] || took != tt.took || (got.Finding == resolve.Absent) != tt.absent {
				t.Errorf("%s: got finding %d (%v) after %d queries in %v, want %v queries in %v", tt.name, got.Finding, got.Cause, queries, took, tt.queries, tt.took)
			}
			if tt.absent && until.Before(time.Now().Add(14*time.Hour)) {
				t.Errorf("%s: searched only until %v", tt.name, until)
			}
			if !tt.absent && !strings.Contains(got.Cause.Error(), "too long ago") {
				t.Errorf("%s: got cause %v", tt.name, got.Cause)
			}
		})
	}
}

// TestRunPauses: the pauses between searches double, up to 30 s, and are shortened at random by up to a half.
func TestRunPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sentAt := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
		time.Sleep(time.Until(sentAt))
		last, pause, n, least, most := time.Now(), time.Duration(0), 0, 1.0, 0.0
		resolve.Run(t.Context(), &resolve.Config[row]{
			SentAt: sentAt, Wait: time.Hour,
			Search: func(context.Context, time.Time, time.Time, int) (*resolve.Page[row], error) {
				if took := time.Since(last); n > 0 && time.Since(sentAt) < time.Hour { // the last pause ends with Wait
					pause = min(time.Second<<(n-1), 30*time.Second)
					if took < pause/2 || took > pause {
						t.Errorf("pause %d: got %v, want at most %v, and half of it at least", n, took, pause)
					}
					least, most = min(least, took.Seconds()/pause.Seconds()), max(most, took.Seconds()/pause.Seconds())
				}
				n, last = min(n+1, 10), time.Now()
				return new(resolve.Page[row]), nil
			},
			Row: func(r *row) resolve.Row { return r.Row },
		})
		if least > 0.7 || most < 0.85 { // of about 160 pauses
			t.Errorf("got pauses from %.2f to %.2f of the longest, want 0.5 to 1", least, most)
		}
	})
}

// TestRunOfTwoMonths: what the two months of one search contain together.
func TestRunOfTwoMonths(t *testing.T) {
	answer := func(rows ...row) func(int) (*resolve.Page[row], error) {
		return func(page int) (*resolve.Page[row], error) {
			return &resolve.Page[row]{Rows: rows, Total: len(rows)}, nil
		}
	}
	fails := func(int) (*resolve.Page[row], error) { return nil, errDown }
	endless := func(page int) (*resolve.Page[row], error) {
		return &resolve.Page[row]{Rows: []row{with(expected, func(r *resolve.Row) { r.ID = "other " + strconv.Itoa(page) })}, Total: 1 << 20}, nil
	}
	changed := with(declined, func(r *resolve.Row) { r.Code = 100 })
	for _, tt := range []struct {
		name          string
		first, second func(page int) (*resolve.Page[row], error)
		finding       resolve.Finding
		cause         error
	}{
		{"a decline, and nothing", answer(declined), answer(), resolve.Declined, nil},
		{"a decline, and a failure", answer(declined), fails, resolve.Unknown, errDown},
		{"the same decline twice, as the range is ignored", answer(declined), answer(declined), resolve.Declined, nil},
		{"a decline that has another code meanwhile", answer(declined), answer(changed), resolve.Unknown, resolve.ErrDoubtful},
		{"too many pages, and the payment", endless, answer(approved), resolve.Found, nil},
		{"too many pages, and nothing", endless, answer(), resolve.Unknown, resolve.ErrDoubtful},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			sentAt := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
			time.Sleep(time.Until(sentAt.AddDate(0, 0, 30)))
			got := resolve.Run(t.Context(), &resolve.Config[row]{
				SentAt: sentAt, Wait: 1,
				Search: func(_ context.Context, start, _ time.Time, page int) (*resolve.Page[row], error) {
					if start.After(sentAt) {
						return tt.second(page)
					}
					return tt.first(page)
				},
				Row:      func(r *row) resolve.Row { return r.Row },
				NotFinal: func([]row) error { return nil },
			})
			if got.Finding != tt.finding || !errors.Is(got.Cause, tt.cause) {
				t.Errorf("got finding %d (%v), want %d (%v)", got.Finding, got.Cause, tt.finding, tt.cause)
			}
		})
	}
}

// TestRunPages: a search reads pages until there are as many rows as announced, and at most MaxPages. A decline is certain
// only if the search was complete.
func TestRunPages(t *testing.T) {
	for _, tt := range []struct {
		name    string
		total   int
		give    int // rows on each page
		asked   int
		finding resolve.Finding
	}{
		{"one page", 3, 3, 1, resolve.Declined}, {"two pages", 3, 2, 2, resolve.Declined},
		{"more than announced", 2, 3, 1, resolve.Declined}, {"an empty page", 3, 0, 1, resolve.Unknown},
		{"no end", 1 << 20, 1, 51, resolve.Unknown}, {"only what is on the page", 10, 10, 51, resolve.Unknown},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			sentAt := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
			time.Sleep(time.Until(sentAt))
			pages := 0
			got := resolve.Run(t.Context(), &resolve.Config[row]{
				SentAt: sentAt, Wait: 1,
				Search: func(_ context.Context, _, _ time.Time, page int) (*resolve.Page[row], error) {
					pages = max(pages, page)
					rows := make([]row, tt.give)
					for i := range rows {
						rows[i] = ours(strconv.Itoa((page-1)*tt.give+i), 101, verdict.Declined)
					}
					return &resolve.Page[row]{Rows: rows, Total: tt.total}, nil
				},
				Row:      func(r *row) resolve.Row { return r.Row },
				NotFinal: func([]row) error { return nil },
			})
			if pages != tt.asked || got.Finding != tt.finding {
				t.Errorf("%s: got %d pages and finding %d (%v), want %d and %d", tt.name, pages, got.Finding, got.Cause, tt.asked, tt.finding)
			}
		})
	}
}

// TestEachPage: how many pages are queried of one range, if each is the same.
func TestEachPage(t *testing.T) {
	full := strings.Split("0123456789", "")
	for _, tt := range []struct {
		name             string
		page             resolve.Listed
		queries, missing int
	}{
		{"all on one", resolve.Listed{IDs: full[:3], Total: 3}, 1, 0},
		{"a full one, which may not be all", resolve.Listed{IDs: full, Total: 10}, 2, 0},
		{"as many as announced", resolve.Listed{IDs: full[:3], Total: 9, Pages: 2}, 2, 6},
	} {
		queries := 0
		missing, hasMore, err := resolve.EachPage(time.Unix(0, 0), time.Unix(1, 0), resolve.MaxPages, func(time.Time, time.Time, int) (resolve.Listed, error) {
			queries++
			return tt.page, nil
		})
		if queries != tt.queries || missing != tt.missing || hasMore || err != nil {
			t.Errorf("%s: %d queries, %d missing, more: %t, %v; want %d and %d", tt.name, queries, missing, hasMore, err, tt.queries, tt.missing)
		}
	}
}
