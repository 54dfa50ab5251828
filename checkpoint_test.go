package cardgateway

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testCheckpoint() Checkpoint {
	return Checkpoint{
		query: "0123", month: 1_767_225_600, next: 1_767_312_000, counted: 7, edge: []uint64{1, 1<<64 - 1},
		completeUpTo: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

func TestCheckpointJSON(t *testing.T) {
	for name, want := range map[string]Checkpoint{"zero": {}, "in a month": testCheckpoint()} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			got := testCheckpoint() // what is read replaces what was there
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Checkpoint{})); diff != "" {
				t.Errorf("after JSON (-want +got):\n%s", diff)
			}
			if got.IsZero() != (name == "zero") {
				t.Errorf("IsZero: got %v", got.IsZero())
			}
		})
	}
}

func TestCheckpointJSONRefused(t *testing.T) {
	good, err := json.Marshal(testCheckpoint())
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(string) string{
		"no object":       func(string) string { return `"secret"` },
		"another version": func(s string) string { return strings.Replace(s, `"version":1`, `"version":2`, 1) },
		"half an id":      func(s string) string { return strings.Replace(s, `"edge":"00`, `"edge":"0`, 1) },
		"no query":        func(s string) string { return strings.Replace(s, `"0123"`, `""`, 1) },
		"negative count":  func(s string) string { return strings.Replace(s, `"counted":7`, `"counted":-7`, 1) },
		"no month":        func(s string) string { return strings.Replace(s, `"2026-01-01 00:00:00"`, `""`, 1) },
		"next first":      func(s string) string { return strings.Replace(s, `"2026-01-02`, `"2025-01-02`, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			text := change(string(good))
			if text == string(good) {
				t.Fatal("the case changes nothing")
			}
			var c Checkpoint
			err := json.Unmarshal([]byte(text), &c)
			if !errors.Is(err, errCheckpoint) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %v", err, errCheckpoint)
			}
			if !c.IsZero() {
				t.Errorf("got %+v, want the zero checkpoint", c)
			}
		})
	}
}

// TestQueryHash: a query is the same if it asks for the same, and a database that keeps microseconds keeps that.
func TestQueryHash(t *testing.T) {
	at := func(nanoseconds int) time.Time { return time.Date(2026, 3, 1, 12, 0, 0, nanoseconds, time.UTC) }
	start, end := at(123_456_789), at(123_456_789).AddDate(0, 1, 0)
	hash := func(start, end time.Time, loc *time.Location, ids ...string) string {
		return hashQuery("SearchOrders", start, end, loc, ids...)
	}
	kept := hash(start, end, time.UTC, "a", "b")
	for _, test := range []struct {
		name string
		hash string
		same bool
	}{
		{"itself", hash(start, end, time.UTC, "a", "b"), true},
		{"microseconds", hash(start.Truncate(time.Microsecond), end.Truncate(time.Microsecond), time.UTC, "a", "b"), true},
		{"another zone of the bounds", hash(start.Local(), end.In(DefaultLocation()), time.UTC, "a", "b"), true},
		{"a second earlier", hash(start.Add(-time.Second), end, time.UTC, "a", "b"), false},
		{"a second longer", hash(start, end.Add(time.Second), time.UTC, "a", "b"), false},
		{"an end that asks for less", hash(start, end.Truncate(time.Second), time.UTC, "a", "b"), false},
		{"another zone of the gateway", hash(start, end, DefaultLocation(), "a", "b"), false},
		{"other ids", hash(start, end, time.UTC, "b", "a"), false},
		{"ids run together", hash(start, end, time.UTC, "a b"), false},
	} {
		if same := test.hash == kept; same != test.same {
			t.Errorf("%s: the same is %t, want %t", test.name, same, test.same)
		}
	}
}

// TestWalkChecks shows that a walk refuses what cannot be right before it asks anything.
func TestWalkChecks(t *testing.T) {
	c, err := New(Config{BaseURL: "https://gateway.test", AppID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	january := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	good := OrderQuery{Start: january, End: january.AddDate(0, 6, 0)}
	other := good
	other.OrderID = "o-1"
	for _, test := range []struct {
		name  string
		query OrderQuery
		opts  WalkOptions
		want  []string
	}{
		{"no range", OrderQuery{}, WalkOptions{}, []string{"startDate required", "endingDate required"}},
		{"end first", OrderQuery{Start: good.End, End: good.Start}, WalkOptions{}, []string{"endingDate range"}},
		{"a page number", OrderQuery{Start: good.Start, End: good.End, CurrPage: 2}, WalkOptions{}, []string{"currPage reserved"}},
		{"another query", good, WalkOptions{Resume: Checkpoint{query: c.OrderWalk(other, WalkOptions{}).query}}, []string{"Resume format"}},
		{"the refunds' walk", good, WalkOptions{Resume: Checkpoint{query: c.RefundWalk(RefundQuery{Start: good.Start, End: good.End}, WalkOptions{}).query}}, []string{"Resume format"}},
		{"every option", good, WalkOptions{PageSize: 1000, Prefetch: -1, Window: time.Second, SplitAbove: -1, Lag: -1},
			[]string{"PageSize range", "Prefetch range", "Window range", "SplitAbove range", "Lag range"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := c.OrderWalk(test.query, test.opts)
			var got []string
			for row, err := range w.All(t.Context()) {
				invalid, ok := errors.AsType[*ValidationError](err)
				if row != nil || !ok {
					t.Fatalf("got %v, %v, want a ValidationError", row, err)
				}
				for _, p := range invalid.Problems {
					got = append(got, p.Field+" "+p.Rule)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if n := w.Report().Requests; n != 0 {
				t.Errorf("requests: got %d, want 0", n)
			}
			for _, err := range w.All(t.Context()) {
				if err != errWalked {
					t.Errorf("the second loop: got %v, want %v", err, errWalked)
				}
			}
		})
	}
}
