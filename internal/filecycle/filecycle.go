// Package filecycle finds cycles among the files of a package: files that use each other, directly or through others. None
// of them can be understood without the rest, and the compiler detects only cycles of packages.
package filecycle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Package is the result for one package.
type Package struct {
	Path string // its import path

	// Cycles has the strongly connected components of more than one file: sets of files that all use each other. Names are
	// sorted.
	Cycles [][]string

	uses graph
}

// A graph has an edge from each file to each other one that it uses: g["client.go"]["types.go"] has the names that
// client.go uses and types.go declares.
type graph map[string]map[string][]string

// Load finds the cycles of the packages that match the go command's patterns in dir. It leaves out test files.
func Load(dir string, patterns ...string) ([]Package, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, patterns...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("go list: %w: %s", err, failed.Stderr)
	} else if err != nil {
		return nil, err
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		DepOnly                 bool
	}
	exports := map[string]string{}
	var wanted []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			wanted = append(wanted, p)
		}
	}

	fset := token.NewFileSet()
	// Imported packages are read from the compiler's export data, because checking their source takes seconds.
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var packages []Package
	for _, p := range wanted {
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files = append(files, file)
		}
		uses, err := usesBetween(p.ImportPath, fset, files, imports)
		if err != nil {
			return nil, err
		}
		packages = append(packages, Package{Path: p.ImportPath, Cycles: uses.cycles(), uses: uses})
	}
	return packages, nil
}

// usesBetween returns the graph of a package's files. Uses of package-level names, fields and methods count.
func usesBetween(path string, fset *token.FileSet, files []*ast.File, imports types.Importer) (graph, error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: imports}
	pkg, err := config.Check(path, fset, files, info)
	if err != nil {
		return nil, err
	}
	fileOf := func(at token.Pos) string { return filepath.Base(fset.Position(at).Filename) }
	uses := graph{}
	for ident, object := range info.Uses {
		if object.Pkg() != pkg {
			continue
		}
		from, to := fileOf(ident.Pos()), fileOf(object.Pos())
		if from == to { // which is also true of names local to a function
			continue
		}
		if uses[from] == nil {
			uses[from] = map[string][]string{}
		}
		if !slices.Contains(uses[from][to], object.Name()) {
			uses[from][to] = append(uses[from][to], object.Name())
		}
	}
	return uses, nil
}

// cycles returns the strongly connected components of more than one file.
func (g graph) cycles() [][]string {
	reached := map[string]map[string]bool{}
	for from := range g {
		reached[from] = g.reachedFrom(from)
	}
	var all [][]string
	done := map[string]bool{}
	for _, from := range slices.Sorted(maps.Keys(g)) {
		if done[from] || !reached[from][from] {
			continue
		}
		var cycle []string
		for _, to := range slices.Sorted(maps.Keys(reached[from])) {
			if reached[to][from] {
				cycle = append(cycle, to)
				done[to] = true
			}
		}
		all = append(all, cycle)
	}
	return all
}

// reachedFrom returns the files that from uses, directly or through others.
func (g graph) reachedFrom(from string) map[string]bool {
	reached := map[string]bool{}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for to := range g[queue[0]] {
			if !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	return reached
}

// Explain describes the shortest path from a file of the cycle back to itself: a line for each step, with the
// names that are used.
func (p Package) Explain(cycle []string) string {
	var shortest []string
	for _, from := range cycle {
		if path := p.uses.back(from); shortest == nil || len(path) < len(shortest) {
			shortest = path
		}
	}
	var text strings.Builder
	for i, from := range shortest {
		to := shortest[(i+1)%len(shortest)]
		names := slices.Sorted(slices.Values(p.uses[from][to]))
		fmt.Fprintf(&text, "%s uses %s: %s\n", from, to, strings.Join(names, ", "))
	}
	return text.String()
}

// back finds the shortest path from a file back to itself by breadth-first search. It does not repeat the file at the end.
func (g graph) back(start string) []string {
	before := map[string]string{}
	for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
		file := queue[0]
		for _, to := range slices.Sorted(maps.Keys(g[file])) {
			if _, seen := before[to]; seen {
				continue
			}
			before[to] = file
			if to == start {
				path := []string{file}
				for file != start {
					file = before[file]
					path = append(path, file)
				}
				slices.Reverse(path)
				return path
			}
			queue = append(queue, to)
		}
	}
	return nil
}
