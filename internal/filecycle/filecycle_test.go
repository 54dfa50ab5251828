package filecycle

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestNoCycles fails if files of one of these packages use each other in a cycle.
func TestNoCycles(t *testing.T) {
	packages, err := Load("../..", ".", "./internal/...", "./journal", "./notify", "./sandbox")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 2 {
		t.Fatalf("got %d packages, want the root, those below internal, and more", len(packages))
	}
	for _, p := range packages {
		t.Run(p.Path, func(t *testing.T) {
			for _, cycle := range p.Cycles {
				t.Errorf("got a cycle of %d files, want none: %s\n%s", len(cycle), strings.Join(cycle, " "), p.Explain(cycle))
			}
		})
	}
}

func TestCycles(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  string // the files of each cycle, and how they need each other
	}{
		{"one direction", map[string]string{
			"a.go": "package p; func A() { B(); C() }",
			"b.go": "package p; func B() { C() }",
			"c.go": "package p; func C() {}",
		}, ""},
		{"functions", map[string]string{
			"a.go": "package p; func A() { B() }",
			"b.go": "package p; func B() { A() }",
		}, "a.go b.go\na.go uses b.go: B\nb.go uses a.go: A\n"},
		{"a type and its method", map[string]string{
			"a.go": "package p; type T struct{}; func A(t T) { t.m() }",
			"b.go": "package p; func (T) m() {}",
		}, "a.go b.go\na.go uses b.go: m\nb.go uses a.go: T\n"},
		{"a field", map[string]string{
			"a.go": "package p; var list = []T{{}}; const N = 1",
			"b.go": "package p; type T struct{ f [N]int }",
		}, "a.go b.go\na.go uses b.go: T\nb.go uses a.go: N\n"},
		{"a field through a variable", map[string]string{
			"a.go": "package p; func A() int { return v.f }",
			"b.go": "package p; type T struct{ f int }; func B() { A() }",
			"c.go": "package p; var v T",
		}, "a.go b.go c.go\na.go uses b.go: f\nb.go uses a.go: A\n"},
		{"a generic method", map[string]string{
			"a.go": "package p; type T[E any] struct{ e E }; func A(t T[int]) { t.m() }",
			"b.go": "package p; func (t T[E]) m() {}",
		}, "a.go b.go\na.go uses b.go: m\nb.go uses a.go: T\n"},
		{"through a third", map[string]string{
			"a.go": "package p; func A() { B() }",
			"b.go": "package p; func B() { C() }",
			"c.go": "package p; func C() { A() }",
			"d.go": "package p; func D() { A() }",
		}, "a.go b.go c.go\na.go uses b.go: B\nb.go uses c.go: C\nc.go uses a.go: A\n"},
		{"two cycles", map[string]string{
			"a.go": "package p; func A() { B(); C() }",
			"b.go": "package p; func B() { A() }",
			"c.go": "package p; func C() { D() }",
			"d.go": "package p; func D() { C() }",
		}, "a.go b.go\na.go uses b.go: B\nb.go uses a.go: A\nc.go d.go\nc.go uses d.go: D\nd.go uses c.go: C\n"},
		{"a local name that another file declares as well", map[string]string{
			"a.go": "package p; func A() { x := 1; _ = x; B() }",
			"b.go": "package p; func B() { A := 1; _ = A }; var x int",
		}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fset := token.NewFileSet()
			var files []*ast.File
			for name, source := range test.files {
				file, err := parser.ParseFile(fset, name, source, 0)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
			}
			uses, err := usesBetween("p", fset, files, importer.Default())
			if err != nil {
				t.Fatal(err)
			}
			p := Package{Path: "p", Cycles: uses.cycles(), uses: uses}
			got := ""
			for _, cycle := range p.Cycles {
				got += strings.Join(cycle, " ") + "\n" + p.Explain(cycle)
			}
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
