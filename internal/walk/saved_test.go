package walk

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// stored is a checkpoint in the middle of a block, as it is stored.
const stored = `{"version":1,"query":"0123","block":"2026-01-01 00:00:00","next":"2026-01-02 00:00:00","counted":7,` +
	`"edge":"0000000000000001ffffffffffffffff","completeUpTo":"2026-01-01T00:00:00Z",` +
	`"start":"2026-01-01T00:00:00Z","end":"2026-01-31T00:00:00Z"}`

func TestSavedJSON(t *testing.T) {
	day := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	clock := func(d int) civil.Time { return civil.Of(day(d), time.UTC) }
	inBlock := Saved{Query: "0123", Start: day(1), End: day(31), At: Checkpoint{
		Block: clock(1), Next: clock(2), Counted: 7, Boundary: []uint64{1, 1<<64 - 1}, CompleteUpTo: day(1),
	}}
	noBoundary := inBlock
	noBoundary.At.Boundary = nil
	for _, tt := range []struct {
		name, text string
		want       Saved
	}{
		{"zero", "null", Saved{}},
		{"in a block", stored, inBlock},
		{"no row at its boundary", strings.Replace(stored, `"edge":"0000000000000001ffffffffffffffff",`, ``, 1), noBoundary},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got Saved
			for _, text := range []string{stored, tt.text} { // decoding replaces all fields
				if err := json.Unmarshal([]byte(text), &got); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || got.IsZero() != (tt.text == "null") {
				t.Errorf("zero: %t; read (-want +got):\n%s", got.IsZero(), diff)
			}
			if data, err := json.Marshal(got); err != nil || string(data) != tt.text {
				t.Errorf("got %s, %v, want %s", data, err, tt.text)
			}
		})
	}
}

// TestSavedJSONInstants: the offset of a zone may have seconds, which RFC 3339 cannot write. The instants are kept.
func TestSavedJSONInstants(t *testing.T) {
	zone := time.FixedZone("local mean time", 8*3600+5*60+43) // of Shanghai until 1901
	at := time.Date(1900, 1, 1, 0, 0, 0, 0, zone)
	data, err := json.Marshal(Saved{Query: "0123", Start: at, End: at.Add(1), At: Checkpoint{Block: civil.Of(at, zone), Next: civil.Of(at, zone), CompleteUpTo: at}})
	var got Saved
	if err == nil {
		err = json.Unmarshal(data, &got)
	}
	if err != nil || !got.Start.Equal(at) || !got.End.Equal(at.Add(1)) || !got.At.CompleteUpTo.Equal(at) {
		t.Errorf("got %v to %v, complete up to %v, %v, want %v", got.Start, got.End, got.At.CompleteUpTo, err, at)
	}
}

func TestSavedJSONRefused(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"no object":                 func(string) string { return `"secret"` },
		"another version":           func(s string) string { return strings.Replace(s, `"version":1`, `"version":2`, 1) },
		"half an id":                func(s string) string { return strings.Replace(s, `"edge":"00`, `"edge":"0`, 1) },
		"part of an id":             func(s string) string { return strings.Replace(s, `"edge":"00`, `"edge":"`, 1) },
		"no query":                  func(s string) string { return strings.Replace(s, `"0123"`, `""`, 1) },
		"negative count":            func(s string) string { return strings.Replace(s, `"counted":7`, `"counted":-7`, 1) },
		"no block":                  func(s string) string { return strings.Replace(s, `"2026-01-01 00:00:00"`, `""`, 1) },
		"null as a block":           func(s string) string { return strings.Replace(s, `"2026-01-01 00:00:00"`, `null`, 1) },
		"no next":                   func(s string) string { return strings.Replace(s, `"2026-01-02 00:00:00"`, `""`, 1) },
		"no start":                  func(s string) string { return strings.Replace(s, `"start":"2026-01-01T00:00:00Z",`, ``, 1) },
		"no end":                    func(s string) string { return strings.Replace(s, `,"end":"2026-01-31T00:00:00Z"`, ``, 1) },
		"complete before its range": func(s string) string { return strings.Replace(s, `UpTo":"2026-01-01T`, `UpTo":"2025-12-31T`, 1) },
		"complete after its range":  func(s string) string { return strings.Replace(s, `UpTo":"2026-01-01T`, `UpTo":"2026-02-01T`, 1) },
		"never complete":            func(s string) string { return strings.Replace(s, `UpTo":"2026`, `UpTo":"0001`, 1) },
		"block before its range":    func(s string) string { return strings.Replace(s, `"block":"2026-01-01`, `"block":"2025-12-28`, 1) },
		"block after its range": func(s string) string {
			return strings.NewReplacer(`-01-01 00`, `-02-03 00`, `-01-02 00`, `-02-03 00`).Replace(s)
		},
		"next after its range": func(s string) string { return strings.Replace(s, `"next":"2026-01`, `"next":"2026-03`, 1) },
		"range of nothing":     func(s string) string { return strings.Replace(s, `"end":"2026-01-31`, `"end":"2025-01-31`, 1) },
		"no version":           func(s string) string { return strings.Replace(s, `"version":1`, `"version":0`, 1) },
		"next first":           func(s string) string { return strings.Replace(s, `"2026-01-02`, `"2025-01-02`, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			text := change(stored)
			if text == stored {
				t.Fatal("the case changes nothing")
			}
			var s Saved
			err := json.Unmarshal([]byte(text), &s)
			if err == nil || !strings.HasPrefix(err.Error(), "not a checkpoint of a walk") || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want that it is not a checkpoint", err)
			}
			if !s.IsZero() {
				t.Errorf("got %+v, want the zero value", s)
			}
		})
	}
}

// TestSavedIsWithin: on the gateway's clock, the position must be within the range to the second.
func TestSavedIsWithin(t *testing.T) {
	zone := time.FixedZone("", 8*3600)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, zone)
	end := start.AddDate(0, 1, 0)
	first, last := civil.Of(start, zone), civil.Of(end, zone)
	for _, tt := range []struct {
		block, next civil.Time
		want        bool
	}{{first, first, true}, {first, last, true}, {last, last, true}, {first - 1, first, false}, {first, last + 1, false}} {
		s := Saved{Query: "0123", Start: start, End: end, At: Checkpoint{Block: tt.block, Next: tt.next}}
		if got := s.IsWithin(zone); got != tt.want {
			t.Errorf("%v to %v: got %t", tt.block, tt.next, got)
		}
	}
}

// FuzzSaved: what is accepted is encoded the same way again, and an error does not quote its input.
func FuzzSaved(f *testing.F) {
	f.Add([]byte(stored))
	f.Add([]byte("null"))
	f.Add([]byte(`{"version":1,"query":"q","block":"2026-01-01","next":"2026-01-01","completeUpTo":"0001-01-01T00:00:00Z",` +
		`"start":"2026-01-01T00:00:00Z","end":"2026-01-31T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s, back Saved
		if err := s.UnmarshalJSON(data); err != nil {
			if len(err.Error()) > 100 {
				t.Errorf("a long error: %v", err)
			}
			return
		}
		text, err := json.Marshal(s)
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if again, _ := json.Marshal(back); err != nil || string(again) != string(text) {
			t.Errorf("%s became %s and then %s, %v", data, text, again, err)
		}
	})
}

// TestHashQuery: the hash is stored in checkpoints, so it must never change.
func TestHashQuery(t *testing.T) {
	zone := time.FixedZone("UTC+8", 8*60*60)
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, zone)
	end := start.AddDate(1, 0, 0)
	hash := func(ids ...string) string { return HashQuery("SearchOrders", start, end, zone, ids) }
	for _, tt := range []struct{ name, got, want string }{
		{"no id", hash("", "", ""), "ada41c0b01fe401e71dad695d3b0bb70"},
		{"ids", hash("1", "b c", ""), "eba9e307cb0f428d0798f3b8f54e3809"},
		{"an hour of refunds", HashQuery("SearchRefunds", start, start.Add(time.Hour), zone, make([]string, 4)), "9ca3e894ccb31c55b6bbd5dcc173d43a"},
		{"fractions of a second", HashQuery("SearchOrders", start.Add(1), end.Add(-1), zone, make([]string, 3)), hash("", "", "")},
		{"the same instants elsewhere", HashQuery("SearchOrders", start.UTC(), end.UTC(), zone, make([]string, 3)), hash("", "", "")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
			}
		})
	}
}
