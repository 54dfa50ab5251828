package terminal

import "testing"

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
