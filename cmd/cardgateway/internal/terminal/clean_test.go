package terminal

import (
	"testing"
	"time"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aüb", 2, "a…"}, {"\x80\x80\x80", 2, "…"}, {"", 0, ""},
	} {
		t.Run(test.text, func(t *testing.T) {
			if got := Cut(test.text, test.most); got != test.want {
				t.Errorf("%q, %d: got %q, want %q", test.text, test.most, got, test.want)
			}
		})
	}
}

func TestDuration(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"}, {48 * time.Hour, "48h"}, {90 * time.Minute, "1h30m"}, {30 * time.Minute, "30m"}, {10 * time.Hour, "10h"},
		{20 * time.Second, "20s"}, {time.Hour + 10*time.Second, "1h0m10s"},
	} {
		if got := Duration(tt.d); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
