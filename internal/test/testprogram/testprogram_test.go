package testprogram

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// fakeTest records how a test ended.
type fakeTest struct {
	testing.TB
	ended string
}

func (*fakeTest) Helper()            {}
func (f *fakeTest) Skip(args ...any) { f.ended = "skip " + fmt.Sprintln(args...) }
func (f *fakeTest) Fatal(args ...any) {
	f.ended = "fatal " + fmt.Sprintln(args...)
}

// TestCheck: a test without its program is skipped and says so, and fails if the program is required; it fails for every
// other error.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, required string
		err            error
		want           string
	}{
		{"there", "1", nil, ""},
		{"missing", "", Python.Missing("it is gone"), "skip skipped: Python is not available on this machine: it is gone"},
		{"missing, another value", "0", Python.Missing("it is gone"), "skip skipped: Python is not"},
		{"missing and required", "1", Python.Missing("it is gone"), "fatal CARDGATEWAY_REQUIRE_PYTHON=1: Python is not"},
		{"broken", "", errors.New("broken"), "fatal broken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("CARDGATEWAY_REQUIRE_PYTHON", tt.required)
			var f fakeTest
			Python.Check(&f, tt.err)
			if !strings.HasPrefix(f.ended, tt.want) || tt.want == "" && f.ended != "" {
				t.Errorf("got %q, want %q", f.ended, tt.want)
			}
		})
	}
}

func TestPath(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CARDGATEWAY_REQUIRE_BROWSER", "")
	var f fakeTest
	if path := Browser.Path(&f); path != "" || !strings.Contains(f.ended, "chromium or chromium-browser or google-chrome is not installed") {
		t.Errorf("got %q, %q", path, f.ended)
	}
}
