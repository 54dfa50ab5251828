package check_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/check"
)

// found returns what a check adds to no violations, as "member rule: message".
func found(t *testing.T, checks func(v *check.Violations)) []string {
	t.Helper()
	var v check.Violations
	checks(&v)
	if v.Len() != len(v.Problems()) {
		t.Errorf("Len: got %d, want %d", v.Len(), len(v.Problems()))
	}
	var texts []string
	for _, p := range v.Problems() {
		texts = append(texts, p.Field+" "+p.Rule+": "+p.Message)
	}
	return texts
}

// wantFound fails where a check does not add exactly the wanted violations of member m.
func wantFound(t *testing.T, name string, checks func(v *check.Violations), want ...string) {
	t.Helper()
	var full []string
	for _, w := range want {
		full = append(full, "m "+w)
	}
	if got := found(t, checks); !slices.Equal(got, full) {
		t.Errorf("%s: got %q, want %q", name, got, full)
	}
}

func TestPrefix(t *testing.T) {
	got := found(t, func(v *check.Violations) {
		v.Prefix("nothing", 0)
		v.Add("before", check.RuleRange, "is %d", 1)
		n := v.Len()
		v.Prefix("nothing", n)
		v.Add("a", check.RuleLength, "is %d", 2)
		v.Add("b", check.RuleFormat, "is bad")
		v.Prefix("list[0]", n)
		v.Prefix("object", n)
	})
	want := []string{"before range: is 1", "object.list[0].a length: is 2", "object.list[0].b format: is bad"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRequire(t *testing.T) {
	for _, tt := range []struct {
		name     string
		given    bool
		presence check.Presence
		want     []string
	}{
		{"required and given", true, check.Required, nil},
		{"required and missing", false, check.Required, []string{"required: is required"}},
		{"optional and given", true, check.Optional, nil},
		{"optional and missing", false, check.Optional, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantFound(t, tt.name, func(v *check.Violations) {
				if got := v.Require("m", tt.given, tt.presence); got != tt.given {
					t.Errorf("%s: Require: got %t, want %t", tt.name, got, tt.given)
				}
			}, tt.want...)
		})
	}
}

func TestContext(t *testing.T) {
	wantFound(t, "a context", func(v *check.Violations) { v.Context(t.Context()) })
	var none context.Context
	got := found(t, func(v *check.Violations) { v.Context(none) })
	if want := []string{"ctx required: must not be nil"}; !slices.Equal(got, want) {
		t.Errorf("no context: got %q, want %q", got, want)
	}
}
