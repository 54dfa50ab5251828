// Package apinames reads the exported names of packages, and docs/names.md, the page that lists them. It imports packages as the
// compiler has exported them. Only tests use it.
package apinames

import (
	"bytes"
	"cmp"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Module is the path of the root module.
const Module = "github.com/cardgateway/cardgateway-go"

// Name is an exported name of a package.
type Name struct {
	Name string         // of a method or an interface's method, Type.Method
	Kind string         // const, var, type, func, method, or interface method
	Type string         // of a const: its type, if the package declares it; otherwise empty
	At   token.Position // of its declaration; of a method that is promoted, where it is promoted from
}

// Exported returns the exported names of packages, by import path, in the order of their names. The methods of a type include
// those that it gets from an embedded type, unless they are listed there, because that type can be used by itself.
func Exported(root string, packages []string) (map[string][]Name, error) {
	fset := token.NewFileSet()
	from, err := Importer(fset, root, packages)
	if err != nil {
		return nil, err
	}
	names := map[string][]Name{}
	for _, path := range packages {
		p, err := from.Import(path)
		if err != nil {
			return nil, err
		}
		names[path] = exported(fset, p)
	}
	return names, nil
}

// Importer returns an importer of packages, and of what they import. It reads what the compiler exports, so that nothing is overlooked
// and nothing is type-checked twice: to check the source takes seconds. Outside of the workspace, packages of its other modules
// cannot be found.
func Importer(fset *token.FileSet, root string, packages []string) (types.Importer, error) {
	list := exec.Command("go", append([]string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, packages...)...)
	list.Dir = root
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("the go command does not find %s", path)
		}
		return os.Open(files[path])
	}), nil
}

func exported(fset *token.FileSet, p *types.Package) (names []Name) {
	add := func(name, kind string, of types.Object) {
		names = append(names, Name{Name: name, Kind: kind, At: fset.Position(of.Pos())})
	}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			add(name, "const", o)
			if typ, is := o.Type().(*types.Named); is && typ.Obj().Pkg() == p {
				names[len(names)-1].Type = typ.Obj().Name()
			}
		case *types.Var:
			add(name, "var", o)
		case *types.Func:
			add(name, "func", o)
		case *types.TypeName:
			add(name, "type", o)
			if i, is := o.Type().Underlying().(*types.Interface); is {
				for m := range i.Methods() {
					add(name+"."+m.Name(), "interface method", m)
				}
				continue
			}
			for m := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
				if m.Obj().Exported() && !listedElsewhere(m.Obj(), o) {
					add(name+"."+m.Obj().Name(), "method", m.Obj())
				}
			}
		}
	}
	slices.SortFunc(names, func(a, b Name) int { return cmp.Compare(a.Name, b.Name) })
	return names
}

// listedElsewhere reports whether a method of the type belongs to another type, which is exported by a package that can be
// imported.
func listedElsewhere(method types.Object, typ *types.TypeName) bool {
	receiver := method.Type().(*types.Signature).Recv().Type()
	if p, is := receiver.(*types.Pointer); is {
		receiver = p.Elem()
	}
	named, is := receiver.(*types.Named)
	if !is {
		return false
	}
	of := named.Obj()
	return of != typ && of.Exported() && !strings.Contains("/"+of.Pkg().Path()+"/", "/internal/")
}

// Row is a row of docs/names.md.
type Row struct {
	Line     int
	Name     string
	Kind     string
	CalledBy []string // actors of the simulation; none if Reason says why
	Reason   string
	Why      string // it exists
}

var code = regexp.MustCompile("`([^`]*)`")

// Read reads docs/names.md: the rows by import path, in their order. A heading with an import path begins a package.
func Read(root string) (map[string][]Row, error) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "names.md"))
	if err != nil {
		return nil, err
	}
	rows := map[string][]Row{}
	path := ""
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if heading, is := strings.CutPrefix(line, "## "); is {
			path = ""
			if found := code.FindStringSubmatch(heading); found != nil {
				path = strings.TrimSuffix(Module+"/"+found[1], "/cardgateway")
			}
			continue
		}
		cells := strings.Split(line, "|")
		if path == "" || len(cells) != 6 || code.FindString(cells[1]) == "" {
			continue
		}
		r := Row{Line: n, Name: code.FindStringSubmatch(cells[1])[1], Kind: strings.TrimSpace(cells[2]), Why: strings.TrimSpace(cells[4])}
		if by := strings.TrimSpace(cells[3]); strings.HasPrefix(by, "`") {
			for _, actor := range code.FindAllStringSubmatch(by, -1) {
				r.CalledBy = append(r.CalledBy, actor[1])
			}
		} else {
			r.Reason = by
		}
		rows[path] = append(rows[path], r)
	}
	return rows, nil
}
