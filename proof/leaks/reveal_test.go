package leaks_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if renamed.Match(text) {
				t.Errorf("%s imports %s by another name", path, holder)
			}
			if bytes.Contains(text, []byte("secret.Reveal")) {
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

// renamed finds an import by another name.
var renamed = regexp.MustCompile(`(?m)^(\t|import )[\w.]+ "github\.com/cardgateway/cardgateway-go/internal/secret"`)
