package cardgateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// checkpoint is a checkpoint in the middle of a month, as JSON, in the form that merchants store.
const checkpoint = `{"version":1,"query":"0123","block":"2026-01-01 00:00:00","next":"2026-01-02 00:00:00","counted":7,` +
	`"edge":"0000000000000001ffffffffffffffff","completeUpTo":"2026-01-01T00:00:00Z",` +
	`"start":"2026-01-01T00:00:00Z","end":"2026-01-31T00:00:00Z"}`

func TestCheckpointJSON(t *testing.T) {
	for _, tt := range []struct {
		name, text   string
		isZero       bool
		completeUpTo time.Time
	}{
		{"zero", "null", true, time.Time{}},
		{"in a month", checkpoint, false, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c cardgateway.Checkpoint
			for _, text := range []string{checkpoint, tt.text} { // what is read replaces what was there
				if err := json.Unmarshal([]byte(text), &c); err != nil {
					t.Fatal(err)
				}
			}
			if c.IsZero() != tt.isZero || !c.CompleteUpTo().Equal(tt.completeUpTo) {
				t.Errorf("got zero %t, complete up to %v, want %t, %v", c.IsZero(), c.CompleteUpTo(), tt.isZero, tt.completeUpTo)
			}
			data, err := json.Marshal(c)
			if err != nil || string(data) != tt.text {
				t.Errorf("got %s, %v, want %s", data, err, tt.text)
			}
			if column, err := c.Value(); err != nil || column != tt.text {
				t.Errorf("the column: got %v, %v, want %s", column, err, tt.text)
			}
			for _, column := range []any{tt.text, []byte(tt.text)} { // drivers differ
				var scanned cardgateway.Checkpoint
				if err := scanned.Scan(column); err != nil {
					t.Errorf("%T: %v", column, err)
				}
				if data, err := json.Marshal(scanned); err != nil || string(data) != tt.text {
					t.Errorf("%T: got %s, %v, want %s", column, data, err, tt.text)
				}
			}
		})
	}
}

func TestCheckpointScanned(t *testing.T) {
	for _, tt := range []struct {
		name   string
		column any
		want   string // the error
	}{
		{"NULL", nil, ""},
		{"a number", int64(7), "cardgateway: a Checkpoint cannot be read from a int64"},
		{"no JSON", "secret", "cardgateway: not a checkpoint of a walk"},
		{"another version", strings.Replace(checkpoint, `"version":1`, `"version":2`, 1),
			"cardgateway: not a checkpoint of a walk that this version reads: version 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c cardgateway.Checkpoint
			if err := c.Scan(checkpoint); err != nil {
				t.Fatal(err)
			}
			err := c.Scan(tt.column)
			if got := fmt.Sprint(err); err != nil && got != tt.want || (err == nil) != (tt.want == "") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if err == nil && !c.IsZero() {
				t.Errorf("got %+v, want the zero checkpoint", c)
			}
		})
	}
}

// TestStoredCheckpoint: a checkpoint that was stored resumes the walk.
func TestStoredCheckpoint(t *testing.T) {
	const stored = `{"version":1,"query":"ab12245cf48622ab0d1cbc9330dff8a0","block":"2024-02-01 07:59:58","next":"2024-02-06 01:56:26",` +
		`"counted":261,"completeUpTo":"2024-02-01T07:59:58+08:00","start":"2024-01-01T00:00:00Z","end":"2024-04-01T00:00:00Z"}`
	client, gateway := clienttest.Seeded()
	defer gateway.Close()
	var resume cardgateway.Checkpoint
	if err := json.Unmarshal([]byte(stored), &resume); err != nil {
		t.Fatal(err)
	}
	if data, err := json.Marshal(resume); err != nil || string(data) != stored {
		t.Errorf("got %s, %v, want %s", data, err, stored)
	}
	rows := 0
	for _, err := range client.OrderWalk(cardgateway.OrderQuery{}, cardgateway.WalkOptions{Resume: resume, PageSize: 100}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	const remaining = 5000 - 1965 // of the rows of clienttest.Seeded
	if rows != remaining {
		t.Errorf("got %d rows, want %d", rows, remaining)
	}
}

// TestResumeOtherQuery: queries with the same parameters are the same query, also after a database has rounded the times
// to microseconds.
func TestResumeOtherQuery(t *testing.T) {
	client, gateway := clienttest.Seeded()
	defer gateway.Close()
	moscow := time.FixedZone("UTC+3", 3*60*60)
	inMoscow := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, Location: moscow})
	start := time.Date(2024, 2, 1, 12, 0, 0, 123_456_789, time.UTC)
	end := start.AddDate(0, 1, 0)
	kept := cardgateway.OrderQuery{UniqueID: "1", OrderID: "b", Start: start, End: end}
	var resume cardgateway.Checkpoint
	walk := client.OrderWalk(kept, cardgateway.WalkOptions{})
	for _, err := range walk.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := json.Marshal(walk.Checkpoint())
	if err == nil {
		err = json.Unmarshal(data, &resume)
	}
	if err != nil || resume.IsZero() {
		t.Fatalf("got the checkpoint %s, %v", data, err)
	}
	change := func(change func(*cardgateway.OrderQuery)) cardgateway.OrderQuery {
		q := kept
		change(&q)
		return q
	}
	for _, tt := range []struct {
		name   string
		client *cardgateway.Client
		query  cardgateway.OrderQuery
		same   bool
	}{
		{"itself", client, kept, true},
		{"microseconds", client, change(func(q *cardgateway.OrderQuery) {
			q.Start, q.End = start.Truncate(time.Microsecond), end.Truncate(time.Microsecond)
		}), true},
		{"another zone of the bounds", client, change(func(q *cardgateway.OrderQuery) { q.Start, q.End = start.Local(), end.In(moscow) }), true},
		{"a second earlier", client, change(func(q *cardgateway.OrderQuery) { q.Start = start.Add(-time.Second) }), false},
		{"a second longer", client, change(func(q *cardgateway.OrderQuery) { q.End = end.Add(time.Second) }), false},
		{"an end that asks for less", client, change(func(q *cardgateway.OrderQuery) { q.End = end.Truncate(time.Second) }), false},
		{"another zone of the gateway", inMoscow, kept, false},
		{"other ids", client, change(func(q *cardgateway.OrderQuery) { q.UniqueID, q.OrderID = "b", "1" }), false},
		{"ids run together", client, change(func(q *cardgateway.OrderQuery) { q.UniqueID, q.OrderID = "1 b", "" }), false},
		{"only a start", client, change(func(q *cardgateway.OrderQuery) { q.End = time.Time{} }), false},
		{"no range, and another id", client, cardgateway.OrderQuery{TransactionID: "t-1"}, false},
		{"an id in another place", client, change(func(q *cardgateway.OrderQuery) { q.OrderID, q.TransactionID = "", "b" }), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			resumed := tt.client.OrderWalk(tt.query, cardgateway.WalkOptions{Resume: resume})
			same := true
			for _, err := range resumed.All(ctx) {
				if invalid, ok := errors.AsType[*cardgateway.ValidationError](err); ok {
					same = !slices.ContainsFunc(invalid.Problems, func(p cardgateway.Problem) bool { return p.Field == "Resume" })
				}
				break
			}
			if same != tt.same {
				t.Errorf("the same is %t, want %t", same, tt.same)
			}
			if got, err := json.Marshal(resumed.Checkpoint()); !tt.same && string(got) != string(data) {
				t.Errorf("the refused checkpoint became %s, %v, want %s", got, err, data)
			}
		})
	}
	refunds := client.RefundWalk(cardgateway.RefundQuery{Start: start, End: end}, cardgateway.WalkOptions{Resume: resume})
	for _, err := range refunds.All(t.Context()) {
		if diff := cmp.Diff([]string{"Resume format"}, clienttest.Problems(err)); diff != "" {
			t.Errorf("the refunds' walk (-want +got):\n%s", diff)
		}
	}
}
