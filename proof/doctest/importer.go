package doctest

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
)

// importerOf returns an importer of packages, and of what they import. It reads what the compiler exports, so that nothing is overlooked
// and nothing is type-checked twice: to check the source takes seconds. Outside of the workspace, packages of its other modules
// cannot be found.
func importerOf(fset *token.FileSet, root string, packages []string) (types.Importer, error) {
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
