package cardgateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

func TestParseWallTime(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"2026-02-28", "2026-02-28 00:00:00"},
		{"2024-02-29 23:59:59", "2024-02-29 23:59:59"},
		{"0000-01-01", "0000-01-01 00:00:00"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := cardgateway.ParseWallTime(tt.text)
			if err != nil || got.String() != tt.want || got.IsZero() != (tt.want == "") {
				t.Errorf("%q: got %q, zero %t, %v, want %q", tt.text, got, got.IsZero(), err, tt.want)
			}
			if got.In(time.UTC).IsZero() != (tt.text == "") {
				t.Errorf("%q: got the instant %v", tt.text, got.In(time.UTC))
			}
			back, err := cardgateway.ParseWallTime(got.String())
			if err != nil || back != got || back.Compare(got) != 0 {
				t.Errorf("%q comes back as %q, %v", got, back, err)
			}
			data, err := json.Marshal(got)
			if err == nil {
				back = cardgateway.WallTime{}
				err = json.Unmarshal(data, &back)
			}
			if err != nil || back != got {
				t.Errorf("%q comes back from JSON as %q, %v", got, back, err)
			}
		})
	}
	got, err := cardgateway.ParseWallTime("secret-29 00:00:00")
	if err == nil || !got.IsZero() || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %q, %v, want an error that does not quote the text", got, err)
	}
	w, _ := cardgateway.ParseWallTime("2026-01-01")
	if err := w.UnmarshalText([]byte("soon")); err == nil || !w.IsZero() {
		t.Errorf("UnmarshalText: got %q, %v, want the zero WallTime and an error", w, err)
	}
}

func TestWallTimeCompare(t *testing.T) {
	early, _ := cardgateway.ParseWallTime("2026-01-01")
	late, _ := cardgateway.ParseWallTime("2026-01-01 00:00:01")
	for _, tt := range []struct {
		a, b cardgateway.WallTime
		want int
	}{{early, late, -1}, {late, early, +1}, {late, late, 0}} {
		if got := tt.a.Compare(tt.b); got != tt.want {
			t.Errorf("%v and %v: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
	eight := time.FixedZone("UTC+8", 8*60*60)
	if got, want := early.In(eight), time.Date(2025, 12, 31, 16, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("%v in UTC+8: got %v, want %v", early, got, want)
	}
}
