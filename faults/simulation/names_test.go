package simulation

import (
	"bufio"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/test/apinames"
)

var checkNames = flag.Bool("names", false, "check that the simulation calls what docs/names.md says that it calls; takes a minute")

const root = "../.."

// TestNames checks docs/names.md against the simulation: what names a file of this package is called while histories run,
// and what gives a reason is not. It builds the simulation with coverage and runs it, so it is not part of every run.
func TestNames(t *testing.T) {
	rows, err := apinames.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for packagePath, rows := range rows {
		for _, r := range rows {
			for _, file := range r.CalledBy {
				if _, err := os.Stat(file + ".go"); err != nil {
					t.Errorf("docs/names.md:%d: %s of %s names %s, and this package has no such file", r.Line, r.Name, packagePath, file)
				}
			}
		}
	}
	if !*checkNames {
		t.Skip("-names also checks that they are called")
	}
	packages := slices.Sorted(func(yield func(string) bool) {
		for p := range rows {
			if !yield(p) {
				return
			}
		}
	})
	declared, err := apinames.Exported(root, packages)
	if err != nil {
		t.Fatal(err)
	}
	called := runCovered(t, declared)
	for packagePath, names := range declared {
		for _, n := range names {
			if n.Kind != "func" && n.Kind != "method" {
				continue
			}
			at := slices.IndexFunc(rows[packagePath], func(r apinames.Row) bool { return r.Name == n.Name })
			if at < 0 {
				continue // internal/test/doctest checks that all are listed
			}
			r := rows[packagePath][at]
			switch isCalled := called.covers(t, n.At); {
			case !isCalled && len(r.CalledBy) > 0:
				t.Errorf("docs/names.md:%d: %s of %s is not called", r.Line, r.Name, packagePath)
			case isCalled && len(r.CalledBy) == 0:
				t.Errorf("docs/names.md:%d: %s of %s is called: say by which file instead of %q", r.Line, r.Name, packagePath, r.Reason)
			}
		}
	}
}

// coverage has the blocks of code that were executed, by file.
type coverage map[string][]block

type block struct {
	from, to int // lines
	executed bool
}

// runCovered runs the simulation in a process of its own, with the store in memory and in a file. It measures the packages in
// which these names are declared. Whether a promise is broken does not matter here.
func runCovered(t *testing.T, names map[string][]apinames.Name) coverage {
	t.Helper()
	var packages []string
	for _, names := range names {
		for _, n := range names {
			if p := path.Dir(packageFile(t, n.At.Filename)); !slices.Contains(packages, p) {
				packages = append(packages, p)
			}
		}
	}
	c := coverage{}
	for _, run := range [][]string{{"-seeds", "120"}, {"-seeds", "12", "-store", "sqlite"}} {
		profile := filepath.Join(t.TempDir(), "profile")
		args := []string{
			"test", "-count=1", "-run=^TestSimulate$", "-coverpkg=" + strings.Join(packages, ","), "-coverprofile=" + profile, ".",
			"-args", "-shrink", "1ms",
		}
		out, err := exec.Command("go", append(args, run...)...).CombinedOutput()
		if _, missing := os.Stat(profile); missing != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		c.read(t, profile)
	}
	return c
}

func (c coverage) read(t *testing.T, profile string) {
	t.Helper()
	f, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		file, rest, ok := strings.Cut(lines.Text(), ".go:")
		if !ok {
			continue
		}
		var from, fromColumn, to, toColumn, statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &from, &fromColumn, &to, &toColumn, &statements, &count); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		c[file+".go"] = append(c[file+".go"], block{from, to, count > 0})
	}
}

// covers reports whether the function that is declared at a place was executed. One without a statement counts as executed.
func (c coverage) covers(t *testing.T, at token.Position) bool {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, at.Filename, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || fset.Position(f.Pos()).Line > at.Line || fset.Position(f.End()).Line < at.Line {
			continue
		}
		if len(f.Body.List) == 0 {
			return true
		}
		from, to := fset.Position(f.Body.Pos()).Line, fset.Position(f.Body.End()).Line
		return slices.ContainsFunc(c[packageFile(t, at.Filename)], func(b block) bool {
			return b.executed && from <= b.from && b.to <= to
		})
	}
	t.Errorf("no function is declared at %v", at)
	return false
}

// packageFile returns the name that a file has in a profile: the path of its package, and its base name.
func packageFile(t *testing.T, file string) string {
	t.Helper()
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(absolute, file)
	if err != nil {
		t.Fatal(err)
	}
	return path.Join(apinames.Module, filepath.ToSlash(relative))
}
