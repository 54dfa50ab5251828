package doctest

import (
	"maps"
	"slices"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/test/apinames"
)

// TestExportedNamesAreListed: docs/names.md lists every exported name of its packages, and no other. For what can be called
// it says what calls it, or why nothing does. Every name has a sentence that says why it exists; a constant may share that of its
// type.
func TestExportedNamesAreListed(t *testing.T) {
	listed, err := apinames.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(listed) < 3 {
		t.Errorf("got %d packages, want all of the page: they are not found", len(listed))
	}
	exported, err := apinames.Exported(root, slices.Sorted(maps.Keys(listed)))
	if err != nil {
		t.Fatal(err)
	}
	for path, rows := range listed {
		t.Run(path, func(t *testing.T) {
			names := exported[path]
			for _, r := range rows {
				at := slices.IndexFunc(names, func(n apinames.Name) bool { return n.Name == r.Name })
				switch {
				case at < 0:
					t.Errorf("docs/names.md:%d: %s of %s does not exist, or is listed twice", r.Line, r.Name, path)
					continue
				case names[at].Kind != r.Kind:
					t.Errorf("docs/names.md:%d: %s is listed as %s, and is %s", r.Line, r.Name, r.Kind, names[at].Kind)
				case len(r.CalledBy) == 0 && r.Reason == "" && canBeCalled(r.Kind):
					t.Errorf("docs/names.md:%d: %s has neither a file that calls it nor a reason", r.Line, r.Name)
				}
				if r.Why == "" && !sharesSentence(names[at], rows) {
					t.Errorf("docs/names.md:%d: %s has no sentence that says why it exists", r.Line, r.Name)
				}
				names = slices.Delete(names, at, at+1)
			}
			for _, n := range names {
				t.Errorf("docs/names.md does not list the %s %s of %s", n.Kind, n.Name, path)
			}
		})
	}
}

// sharesSentence reports whether a name is a constant whose type has a sentence.
func sharesSentence(n apinames.Name, rows []apinames.Row) bool {
	return n.Type != "" && slices.ContainsFunc(rows, func(r apinames.Row) bool { return r.Name == n.Type && r.Why != "" })
}

func canBeCalled(kind string) bool {
	return kind == "func" || kind == "method" || kind == "interface method"
}
