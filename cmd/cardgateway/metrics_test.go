package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// wantGauges holds a metrics file to some gauges. The parser is Prometheus' own.
func wantGauges(t *testing.T, path string, want map[string]float64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(f)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for name, family := range families {
		if family.GetHelp() == "" || family.GetType().String() != "GAUGE" {
			t.Errorf("%s: got help %q, type %v", name, family.GetHelp(), family.GetType())
		}
		for _, m := range family.GetMetric() {
			if m.TimestampMs != nil {
				t.Errorf("%s has a time, which the node exporter refuses", name)
			}
			series := name
			for _, l := range m.GetLabel() {
				series += fmt.Sprintf("{%s=%q}", l.GetName(), l.GetValue())
			}
			if _, twice := got[series]; twice {
				t.Errorf("%s is there twice", series)
			}
			got[series] = m.GetGauge().GetValue()
		}
	}
	for series, value := range want {
		if number, ok := got[series]; !ok || number != value {
			t.Errorf("got %v, %v for %s, want %v; all: %v", number, ok, series, value, got)
		}
	}
}
