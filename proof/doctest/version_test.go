package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
)

// required finds what a go.mod or go.work says of this repository's modules: requirements, and replace directives with a
// version.
var required = regexp.MustCompile(`(?m)(github\.com/cardgateway/cardgateway-go\S*) v(\S+)`)

// TestOneVersion: the constant, the changelog and the requirements of all modules have the same version. .ci/version writes it.
func TestOneVersion(t *testing.T) {
	if heading := regexp.MustCompile(`(?m)^## (\S+)`).FindStringSubmatch(readFile(t, "CHANGELOG.md")); len(heading) != 2 || heading[1] != cardgateway.Version {
		t.Errorf("CHANGELOG.md begins with %q, want %s", heading, cardgateway.Version)
	}
	found := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "go.mod" && entry.Name() != "go.work" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, r := range required.FindAllStringSubmatch(string(text), -1) {
			if found++; r[2] != cardgateway.Version {
				t.Errorf("%s: %s has the version %s, want %s", path, r[1], r[2], cardgateway.Version)
			}
		}
		return err
	})
	if err != nil || found < 8 {
		t.Errorf("found %d requirements, %v", found, err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
