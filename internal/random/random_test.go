package random_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/internal/random"
)

type draws struct {
	Floats []float64
	Pauses []time.Duration
	Text   string
	Bytes  [8]byte
}

func draw(t *testing.T, seed uint64) (d draws) {
	cryptotest.SetGlobalRandom(t, seed)
	for range 20 {
		d.Floats = append(d.Floats, random.Float64())
		d.Pauses = append(d.Pauses, random.Pause(time.Second))
	}
	d.Text = random.Text()
	random.Fill(d.Bytes[:])
	return d
}

func TestTheSeedDecides(t *testing.T) {
	first, again, other := draw(t, 1), draw(t, 1), draw(t, 2)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same seed draws something else (-first +again):\n%s", diff)
	}
	if slices.Equal(first.Floats, other.Floats) || slices.Equal(first.Pauses, other.Pauses) || first.Text == other.Text || first.Bytes == other.Bytes {
		t.Errorf("another seed draws the same: %+v and %+v", first, other)
	}
}

func TestRanges(t *testing.T) {
	const draws = 10_000
	for name, tt := range map[string]struct {
		draw        func() float64
		low, high   float64 // the range, high excluded
		nearlyWhole float64 // share of the range that the draws span at least
	}{
		"Float64":       {random.Float64, 0, 1, 0.99},
		"Pause":         {func() float64 { return random.Pause(time.Second).Seconds() }, 0.5, 1, 0.99},
		"Pause of none": {func() float64 { return random.Pause(0).Seconds() }, 0, 1e-9, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cryptotest.SetGlobalRandom(t, 1)
			low, high := tt.high, tt.low
			for range draws {
				got := tt.draw()
				low, high = min(low, got), max(high, got)
			}
			if low < tt.low || high >= tt.high {
				t.Errorf("got [%v, %v], want within [%v, %v)", low, high, tt.low, tt.high)
			}
			if high-low < tt.nearlyWhole*(tt.high-tt.low) {
				t.Errorf("got only [%v, %v] of [%v, %v)", low, high, tt.low, tt.high)
			}
		})
	}
}

// TestNoOtherSource keeps everything that chance decides in one place, so that one seed decides all of it.
func TestNoOtherSource(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	check := func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if imported == "math/rand" || imported == "math/rand/v2" || imported == "crypto/rand" {
				t.Errorf("%s imports %s: use internal/random", path, imported)
			}
		}
	}
	own, err := filepath.Glob(filepath.Join(root, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range own {
		check(path)
	}
	for _, dir := range []string{"internal", "journal", "notify"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "random" || entry.Name() == "journaltest"): // journaltest is a test suite
				return filepath.SkipDir
			}
			check(path)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 50 {
		t.Errorf("read %d files, want all", files)
	}
}
