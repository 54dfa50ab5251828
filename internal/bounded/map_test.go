package bounded

import (
	"strings"
	"testing"
)

func TestMap(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int
		put   string // keys, one after the other
		kept  string // keys
	}{
		{"empty", 2, "", ""},
		{"not full", 2, "a", "a"},
		{"full", 2, "ab", "ab"},
		{"the oldest goes", 2, "abc", "bc"},
		{"a changed entry is no newer", 2, "abac", "bc"},
		{"twice around", 3, "abcdefgh", "fgh"},
		{"an entry that comes back", 2, "abca", "ca"},
		{"no limit given", 0, "ab", "b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := Map[string, int]{Limit: tt.limit}
			for i, k := range strings.Split(tt.put, "") {
				m.Put(k, i)
			}
			if len(m.entries) != len(tt.kept) || len(m.order) != len(tt.kept) {
				t.Errorf("got %d entries and %d keys in order, want %d", len(m.entries), len(m.order), len(tt.kept))
			}
			for k := range strings.SplitSeq("abcdefgh", "") {
				value, kept := m.Get(k)
				if want := strings.Contains(tt.kept, k); kept != want {
					t.Errorf("%s: got kept %t, want %t", k, kept, want)
				}
				if want := strings.LastIndex(tt.put, k); kept && value != want {
					t.Errorf("%s: got %d, want %d", k, value, want)
				}
			}
		})
	}
}
