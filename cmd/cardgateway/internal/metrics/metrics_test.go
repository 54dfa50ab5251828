package metrics

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.prom")
	hostile := "a\"b\\c\nd\xff"
	all := []Metric{
		{Name: "b", Help: "Of b.", Value: 1.5},
		{Name: "a", Help: "Of a:\nmore \\ of it.", Label: Label{"z", hostile}, Value: 1763752205.25},
		{Name: "a", Help: "Of a:\nmore \\ of it.", Label: Label{"z", "2"}, Value: math.Inf(1)},
	}
	for range 2 { // the second time over the first file
		if err := Write(path, all); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `# HELP a Of a:\nmore \\ of it.
# TYPE a gauge
a{z="2"} +Inf
a{z="a\"b\\c\nd` + "\ufffd" + `"} 1.76375220525e+09
# HELP b Of b.
# TYPE b gauge
b 1.5
`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if got := families["a"].GetMetric()[1].GetLabel()[0].GetValue(); got != "a\"b\\c\nd\ufffd" {
		t.Errorf("got label %q", got)
	}
	info, err := os.Stat(path)
	if err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o644 {
		t.Errorf("got mode %v, %v, want one that the exporter's account can read", info.Mode(), err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("got the files %v, %v, want one", files, err)
	}

	for _, test := range []struct {
		name  string
		label Label
		want  float64
		ok    bool
	}{
		{"b", Label{}, 1.5, true},
		{"a", Label{"z", hostile}, 1763752205.25, true},
		{"a", Label{}, 0, false},
		{"a", Label{"z", "1"}, 0, false},
		{"c", Label{}, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok, err := Last(path, test.name, test.label); got != test.want || ok != test.ok || err != nil {
				t.Errorf("last %s%v: got %v, %v, %v, want %v, %v", test.name, test.label, got, ok, err, test.want, test.ok)
			}
		})
	}
	if _, ok, err := Last(path+"x", "b", Label{}); ok || err != nil {
		t.Errorf("no file: got %v, %v", ok, err)
	}
}

// TestWriteFails: nothing is left beside a file that cannot be replaced.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "none", "a.prom"), nil); !os.IsNotExist(err) {
		t.Errorf("no folder: got %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("got the files %v, %v, want none", files, err)
	}
}

// FuzzSeries: whatever a label says, Prometheus reads it back.
func FuzzSeries(f *testing.F) {
	for _, value := range []string{"", "a", `"`, `\`, "\n", "\xff", `a\n"}`} {
		f.Add(value, 1.0)
	}
	f.Fuzz(func(t *testing.T, value string, number float64) {
		text := format([]Metric{{Name: "a", Help: value, Label: Label{"b", value}, Value: number}})
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		m := families["a"].GetMetric()[0]
		if got := m.GetLabel()[0].GetValue(); got != strings.ToValidUTF8(value, "\ufffd") {
			t.Errorf("got label %q, want %q", got, value)
		}
		if got := m.GetGauge().GetValue(); got != number && !math.IsNaN(number) {
			t.Errorf("got %v, want %v", got, number)
		}
	})
}
