package doctest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// code finds `words` in a page.
var code = regexp.MustCompile("`([^`]+)`")

// TestNamedFilesExist: a Go file named on a page of docs, by its path from the root of the repository, exists.
func TestNamedFilesExist(t *testing.T) {
	named := 0
	for _, p := range readPages(t) {
		t.Run(p.path, func(t *testing.T) {
			if path.Dir(p.path) != "docs" {
				return
			}
			for i, line := range p.lines {
				for _, found := range code.FindAllStringSubmatch(line, -1) {
					if path.Ext(found[1]) != ".go" || strings.ContainsAny(found[1], " *<") {
						continue
					}
					named++
					if _, err := os.Stat(filepath.Join(root, found[1])); err != nil {
						t.Errorf("%s:%d: got the file %s, which does not exist", p.path, i+1, found[1])
					}
				}
			}
		})
	}
	if named < 10 {
		t.Errorf("got %d files, want more: they are not found", named)
	}
}

// TestNamedFunctionsExist: in a table of docs/architecture.md that describes a sequence of steps, everything in the third
// cell is declared in the file of the second.
func TestNamedFunctionsExist(t *testing.T) {
	rows := 0
	for _, p := range readPages(t) {
		t.Run(p.path, func(t *testing.T) {
			if p.path != "docs/architecture.md" {
				return
			}
			for i, line := range p.lines {
				cells := strings.Split(line, "|")
				if len(cells) != 6 { // Step, File, Function, What happens
					continue
				}
				files := code.FindAllStringSubmatch(cells[2], -1)
				if len(files) != 1 || path.Ext(files[0][1]) != ".go" {
					continue
				}
				rows++
				declared := declarations(t, files[0][1])
				for _, name := range code.FindAllStringSubmatch(cells[3], -1) {
					if !slices.Contains(declared, name[1]) {
						t.Errorf("%s:%d: got %s, which %s does not declare", p.path, i+1, name[1], files[0][1])
					}
				}
			}
		})
	}
	if rows < 10 {
		t.Errorf("got %d rows, want more: they are not found", rows)
	}
}

// declarations returns the functions and types of a file. A method is listed as Type.Method and as Method.
func declarations(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, decl := range parsed.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, decl.Name.Name)
			if decl.Recv != nil {
				names = append(names, receiver(decl.Recv.List[0].Type)+"."+decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if typ, ok := spec.(*ast.TypeSpec); ok {
					names = append(names, typ.Name.Name)
				}
			}
		}
	}
	return names
}

// receiver returns the name of a receiver's type, without pointer and type parameters.
func receiver(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return receiver(typ.X)
	case *ast.IndexExpr:
		return receiver(typ.X)
	case *ast.Ident:
		return typ.Name
	}
	return ""
}
