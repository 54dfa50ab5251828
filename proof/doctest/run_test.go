package doctest

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFragmentsRun runs every fragment of the pages that has statements, against the sandbox: see testdata/run_test.go. None returns an
// error. Fragments that only declare functions are compiled, and not called.
func TestFragmentsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a program is built")
	}
	prelude := readFile(t, preludeFile)
	all := snippets(t)
	imports := newImporter(t, append(all, &source{text: prelude}))
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "prelude.go"), filepath.Join(dir, "run_test.go")}
	texts := []string{prelude, readFile(t, testdata+"run_test.go")}
	for i, f := range all {
		if !f.isFragment || !strings.Contains(f.text, "func _() error {") {
			continue
		}
		name := fmt.Sprintf("fragment%d", i)
		text := strings.Replace(f.text, "func _() error {", "func "+name+"() error {", 1)
		text = elsewhere.Replace(withUses(t, imports, text, prelude))
		files = append(files, filepath.Join(dir, name+"_test.go"))
		texts = append(texts, fmt.Sprintf("%s\nfunc init() { fragments[%q] = %s }\n", text, f.name, name))
	}
	if len(files) < 20 {
		t.Fatalf("got %d fragments, want more: they are not found", len(files)-2)
	}
	for i, file := range files {
		if err := os.WriteFile(file, []byte(texts[i]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-vet=off"}, files...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// elsewhere replaces what a fragment can only use in production.
var elsewhere = strings.NewReplacer(`"https://gateway.example"`, "gatewayURL", `"/var/lib/shop/payments.db"`, "databasePath", "sqlstore.Postgres",
	"sqlstore.SQLite")

// withUses returns the text of a fragment in which every variable is used: the compiler refuses one that is not.
func withUses(t *testing.T, imports types.Importer, text, prelude string) string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	given, err := parser.ParseFile(fset, "", prelude, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	type use struct {
		at   int // offset
		name string
	}
	var uses []use
	config := types.Config{Importer: imports, Error: func(err error) {
		failed, ok := errors.AsType[types.Error](err)
		name, unused := strings.CutPrefix(failed.Msg, "declared and not used: ")
		if ok && unused {
			uses = append(uses, use{fset.PositionFor(endOfStatement(file, failed.Pos), false).Offset, name})
		}
	}}
	_, _ = config.Check("example.com/shop", fset, []*ast.File{file, given}, nil)
	slices.SortFunc(uses, func(a, b use) int { return cmp.Compare(b.at, a.at) })
	for _, u := range uses {
		text = text[:u.at] + "\n_ = " + u.name + text[u.at:]
	}
	return text
}

// endOfStatement returns the end of the innermost statement of a block that contains pos.
func endOfStatement(file *ast.File, pos token.Pos) (end token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		if block, ok := n.(*ast.BlockStmt); ok {
			for _, s := range block.List {
				if s.Pos() <= pos && pos < s.End() {
					end = s.End()
				}
			}
		}
		return true
	})
	return end
}
