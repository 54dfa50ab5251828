package escape_test

import (
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/escape"
)

func TestPercent(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"no escape", "a+b c", "a+b c"},
		{"escapes of both cases", "%2f%2F%41b", "//Ab"},
		{"twice escaped", "%252F", "%2F"},
		{"bad ones between good ones", "%zz%41%4%", "%zzA%4%"},
		{"at the end", "x%41", "xA"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := escape.Percent(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
