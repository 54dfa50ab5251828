package leaks_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestOnlyTwoFilesReveal keeps the way out narrow, in all packages of the module: card.go, which holds the secrets, and
// request.go, which writes them.
func TestOnlyTwoFilesReveal(t *testing.T) {
	const holder = "internal/secret"
	t.Chdir("../..")
	var got []string
	packages := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			_, noModule := os.Stat(filepath.Join(path, "go.mod"))
			hidden := strings.HasPrefix(entry.Name(), ".") && path != "."
			if path != "." && noModule == nil || hidden || filepath.ToSlash(path) == holder {
				return filepath.SkipDir
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			packages[filepath.Dir(path)] = true
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			if reveals(file, "github.com/cardgateway/cardgateway-go/"+holder) {
				got = append(got, filepath.ToSlash(path))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".", "internal/redact", "internal/transport", "journal", "notify", "sandbox"} {
		if !packages[filepath.FromSlash(dir)] {
			t.Errorf("package %s was not looked at", dir)
		}
	}
	if want := []string{"card.go", "request.go"}; !slices.Equal(got, want) {
		t.Errorf("files that reveal: got %v, want %v", got, want)
	}
}

// reveals reports whether a file names the function Reveal of a package, by whatever name it imports the package.
func reveals(file *ast.File, path string) bool {
	var imported string
	for _, spec := range file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != path {
			continue
		}
		imported = path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			imported = spec.Name.Name
		}
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			found = found || ok && x.Name == imported && n.Sel.Name == "Reveal"
		case *ast.Ident:
			found = found || imported == "." && n.Name == "Reveal"
		}
		return true
	})
	return found
}

func TestReveals(t *testing.T) {
	for source, want := range map[string]bool{
		`import "a/secret"; var x = secret.Reveal(v)`:                   true,
		`import s "a/secret"; var x = s.Reveal`:                         true,
		`import . "a/secret"; var x = Reveal(v)`:                        true,
		`import "a/secret"; var x = secret.Equal(v, w)`:                 false,
		`import "b/secret"; var x = secret.Reveal(v)`:                   false,
		`import "a/secret"; var x = token.Reveal()`:                     false,
		`import secret "b"; import "a/other"; var x = secret.Reveal(v)`: false,
	} {
		t.Run(source, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "", "package p; "+source, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := reveals(file, "a/secret"); got != want {
				t.Errorf("%s: got %t, want %t", source, got, want)
			}
		})
	}
}
