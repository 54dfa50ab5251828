package main

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// bars are the scenarios of the picture, with their labels.
var bars = []struct{ scenario, label string }{
	{"Call/op=token/tls=false/callers=1", "token payment\n1 caller"},
	{"Call/op=token/tls=false/callers=16", "token payment\n16 callers"},
	{"Call/op=subscription/tls=false/callers=16", "subscription\n16 callers"},
	{"Call/op=token/tls=true/callers=16", "token payment\nTLS, 16 callers"},
	{"Decode/rows=100", "decode\n100 rows"},
	{"Decode/rows=999", "decode\n999 rows"},
	{"Walk/months=12/tls=false/delay=0s", "walk of\n12 months"},
}

// clients are the colours of the picture.
var clients = []string{"cardgateway", "limit", "go-github", "paypal", "stripe-go"}

// draw draws the CPU time of each client in each scenario in relation to code written by hand.
func draw(file string, scenarios []*scenario) error {
	p := plot.New()
	p.Title.Text = "CPU time of the client over net/http and encoding/json by hand"
	p.Y.Label.Text = "ratio (by hand = 1)"
	p.Y.Min, p.Y.Max = 0, 3
	p.Y.Tick.Marker = plot.ConstantTicks{
		{Value: 0, Label: "0"}, {Value: 0.5, Label: "0.5"}, {Value: 1, Label: "1"}, {Value: 1.5, Label: "1.5"},
		{Value: 2, Label: "2"}, {Value: 2.5, Label: "2.5"}, {Value: 3, Label: "3"},
	}
	p.Legend.Top = true
	p.Legend.ThumbnailWidth = vg.Points(10)
	width := vg.Points(10)
	for i, client := range clients {
		values := make(plotter.Values, len(bars))
		for j, bar := range bars {
			values[j] = cpuRatio(scenarios, bar.scenario, client)
		}
		chart, err := plotter.NewBarChart(values, width)
		if err != nil {
			return err
		}
		chart.Color = plotutil.Color(i)
		chart.LineStyle.Width = 0
		chart.Offset = width * vg.Length(2*i-len(clients)+1) / 2
		p.Add(chart)
		p.Legend.Add(client, chart)
	}
	byHand := plotter.NewFunction(func(float64) float64 { return 1 })
	byHand.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(byHand)
	labels := make([]string, len(bars))
	for i, bar := range bars {
		labels[i] = bar.label
	}
	p.NominalX(labels...)
	return p.Save(28*vg.Centimeter, 12*vg.Centimeter, file)
}

// cpuRatio is 0 if a client was not measured. For walks of the project's client it is that of the default settings.
func cpuRatio(scenarios []*scenario, name, client string) float64 {
	if strings.HasPrefix(name, "Walk") && client == "cardgateway" {
		client = "cardgateway-default"
	}
	for _, s := range scenarios {
		if s.name == name {
			median, _, _ := s.ratio(client, "cpu-ns/op")
			return median
		}
	}
	return 0
}
