package doctest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
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
				text := readFile(t, files[0][1])
				for _, name := range code.FindAllStringSubmatch(cells[3], -1) {
					typ, method, isMethod := strings.Cut(name[1], ".")
					declaration := `(?m)^(func|type) (\(\w+ [^)]*\) )?` + typ + `\b`
					if isMethod {
						declaration = `(?m)^func \(\w+ \*?` + typ + `\b[^)]*\) ` + method + `\b`
					}
					if !regexp.MustCompile(declaration).MatchString(text) {
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
