package doctest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFloors: what merchants import knows nothing of what people run, and neither knows what proves them.
func TestFloors(t *testing.T) {
	const own = "github.com/cardgateway/cardgateway-go"
	floor := func(path string) int {
		switch first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, own), "/"), "/"); first {
		case "cmd", "examples":
			return 2
		case "proof", "site":
			return 3
		}
		return 1
	}
	packages := 0
	for dir, list := range map[string]string{".": "work", "temporal": "./..."} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-f",
			`{{.ImportPath}}{{range .Imports}} {{.}}{{end}}{{range .TestImports}} {{.}}{{end}}{{range .XTestImports}} {{.}}{{end}}`, list)
		cmd.Dir, cmd.Env = root+"/"+dir, os.Environ()
		if dir != "." {
			cmd.Env = append(cmd.Env, "GOWORK=off")
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			names := strings.Fields(line)
			packages++
			for _, imported := range names[1:] {
				if strings.HasPrefix(imported, own) && floor(imported) > floor(names[0]) {
					t.Errorf("%s imports %s, of a higher floor", names[0], imported)
				}
			}
		}
	}
	if packages < 60 {
		t.Errorf("got %d packages, want more: they are not found", packages)
	}
}
