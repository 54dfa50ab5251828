package doctest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSnippetsCompile checks the types of every Go snippet of the pages in the root and in docs. One that has a package clause is a whole file. Any other is a
// fragment: declarations, or statements of a function that returns an error. A fragment may use what
// testdata/prelude.go declares, and it need not import the packages of fragmentImports; variables that it declares need
// not be used.
func TestSnippetsCompile(t *testing.T) {
	files := snippets(t)
	prelude := readFile(t, preludeFile)
	files = append(files, &source{text: prelude, name: "testdata/prelude.go"})
	imports := newImporter(t, files)
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			given := ""
			if f.isFragment {
				given = prelude
			}
			for _, err := range check(imports, f.text, given) {
				t.Error(err)
			}
		})
	}
}

const (
	testdata    = "proof/doctest/testdata/"
	preludeFile = testdata + "prelude.go"
)

// snippets returns the Go snippets of the pages in the root and in docs, also those that are whole files.
func snippets(t *testing.T) (files []*source) {
	t.Helper()
	for _, p := range readPages(t) {
		for _, s := range p.snippets {
			inProgram := p.path == "docs/program.md" || p.path == "docs/start.md" && isFile(s.text) // package proof/program builds it
			if s.language == "go" && !inProgram && (path.Dir(p.path) == "." || path.Dir(p.path) == "docs") {
				files = append(files, newSource(t, s))
			}
		}
	}
	if len(files) < 10 {
		t.Errorf("got %d snippets, want more: they are not found", len(files))
	}
	return files
}

// fragmentImports are the packages that a fragment need not import.
var fragmentImports = []string{
	"context", "database/sql", "encoding/json", "errors", "fmt", "log", "log/slog", "net/http", "net/http/httptest", "os",
	"testing", "time",
	"github.com/cardgateway/cardgateway-go",
	"github.com/cardgateway/cardgateway-go/journal",
	"github.com/cardgateway/cardgateway-go/journal/sqlite",
	"github.com/cardgateway/cardgateway-go/journal/sqlstore",
	"github.com/cardgateway/cardgateway-go/notify",
	"github.com/cardgateway/cardgateway-go/sandbox",
	"github.com/shopspring/decimal",
}

// source is a snippet as a file.
type source struct {
	name       string
	text       string
	isFragment bool
}

var importDecl = regexp.MustCompile(`(?s)^import (\(.*?\)|"[^"]*")\n`)

// newSource makes a file of a snippet, with the page's lines in its errors.
func newSource(t *testing.T, s snippet) *source {
	t.Helper()
	f := &source{name: fmt.Sprintf("%s:%d", s.page, s.line)}
	if isFile(s.text) {
		f.text = fmt.Sprintf("//line %s\n%s", f.name, s.text)
		return f
	}
	f.isFragment = true
	ownImports, body := importDecl.FindString(s.text), s.text
	if ownImports != "" { // the lines stay what they are
		body = strings.Repeat("\n", strings.Count(ownImports, "\n")) + strings.TrimPrefix(s.text, ownImports)
	}
	head := "package fragment\n" + ownImports
	code := toEndOfLine.ReplaceAllString(body, "")
	for _, p := range fragmentImports {
		name := strings.TrimSuffix(path.Base(p), "-go")
		if strings.Contains(code, name+".") && !strings.Contains(ownImports, strconv.Quote(p)) {
			head += fmt.Sprintf("import %s %q\n", name, p)
		}
	}
	head += fmt.Sprintf("//line %s\n", f.name)
	f.text = head + body
	if _, err := parser.ParseFile(token.NewFileSet(), "", f.text, parser.SkipObjectResolution); err != nil {
		f.text = strings.Replace(head, "//line", "func _() error {\n//line", 1) + body + "return nil\n}\n"
	}
	return f
}

// toEndOfLine is a comment, or a part of a URL, which names no package either.
var toEndOfLine = regexp.MustCompile(`//.*`)

func isFile(text string) bool {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly)
	return err == nil
}

// check returns what the compiler would say of a file, with given as another file of its package unless that is empty.
func check(imports types.Importer, text, given string) (found []error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, text := range []string{text, given} {
		if text == "" {
			continue
		}
		file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
		if err != nil {
			return []error{err}
		}
		files = append(files, file)
	}
	config := types.Config{Importer: imports, Error: func(err error) {
		if failed, ok := errors.AsType[types.Error](err); ok && failed.Soft && given != "" {
			return // a fragment's variable or import that is not used
		}
		found = append(found, err)
	}}
	_, _ = config.Check("example.com/shop", fset, files, nil) // its error is the first of those found
	return found
}

// newImporter returns an importer of what the files import.
func newImporter(t *testing.T, files []*source) types.Importer {
	t.Helper()
	var paths []string
	for _, f := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), "", f.text, parser.ImportsOnly)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		for _, spec := range parsed.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	imports, err := importerOf(token.NewFileSet(), root, slices.Compact(paths))
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

// TestSnippetsAreChecked: what does not compile is found, on the right line. That the rest compiles, the pages show.
func TestSnippetsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string // want is part of the first error
	}{
		{"a wrong name", "fmt.Println()\nfmt.Printline()\n", "page.md:11: undefined: fmt.Printline"},
		{"a wrong type", "import \"strings\"\n\n_ = strings.ToUpper(1)\n", "page.md:12: cannot use 1"},
		{"a syntax error", "fmt.Println(\n", "page.md:11"},
		{"an unused variable of a file", "package p\n\nfunc f() { x := 1 }\n", "page.md:12: declared and not used: x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newSource(t, parsePage("page.md", strings.Repeat("\n", 8)+"```go\n"+tt.text+"```\n").snippets[0])
			given := ""
			if f.isFragment {
				given = "package fragment\n"
			}
			found := check(importer.Default(), f.text, given)
			if len(found) == 0 || !strings.Contains(found[0].Error(), tt.want) {
				t.Errorf("got errors %q, want %q", found, tt.want)
			}
		})
	}
}
