package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// charts are the charts of one currency.
type charts struct {
	Currency string
	Says     string
	Charts   []chart
}

// Charts returns the charts of every currency.
func (v *view) Charts() (all []charts) {
	for _, currency := range slices.Sorted(maps.Keys(v.days.currencies)) {
		bars, starts, unit := v.days.series(currency)
		of := func(f func(*dayOf) float64) (values []float64) {
			for i := range bars {
				values = append(values, f(&bars[i]))
			}
			return values
		}
		var total dayOf
		for i := range bars {
			total.add(&bars[i])
		}
		c := charts{Currency: terminal.Clean(currency), Says: fmt.Sprintf("%s %s in %s; acceptance %s; refunded %s %s.",
			amount.ForPeople(total.value, currency), terminal.Clean(currency), plural(total.approved, "payment"), percentText(acceptance(&total)),
			amount.ForPeople(total.refunded, currency), terminal.Clean(currency))}
		c.Charts = []chart{
			newChart("Value per "+unit, "value", of(func(d *dayOf) float64 { return d.value.InexactFloat64() }), starts, false, short),
			newChart("Payments per "+unit, "volume", of(func(d *dayOf) float64 { return float64(d.approved) }), starts, false, short),
			newChart("Acceptance rate", "rate", of(acceptance), starts, true, percentText),
			newChart("Refunded per "+unit, "refunds", of(func(d *dayOf) float64 { return d.refunded.InexactFloat64() }), starts, false, short),
		}
		all = append(all, c)
	}
	return all
}

// acceptance returns the share of approved payments among the approved and declined ones, or NaN if there are none.
func acceptance(d *dayOf) float64 {
	if d.approved+d.declined == 0 {
		return math.NaN()
	}
	return float64(d.approved) / float64(d.approved+d.declined)
}

// chart is a bar chart or a line chart.
type chart struct {
	Title  string
	Class  string // CSS class
	Path   string
	IsLine bool
	Lines  []tick // horizontal grid lines
	Ticks  []tick // labels of the horizontal axis
}

// tick is a labelled position on an axis.
type tick struct {
	At   float64
	Text string
}

// The size of a chart, and the limits of its plot area.
const (
	chartWidth  = 520.0
	chartHeight = 150.0
	chartLeft   = 62.0
	chartTop    = 10.0
	chartBottom = 128.0
)

// newChart draws values by the first day of each; NaN means no value. A line is one of rates, up to 1.
func newChart(title, class string, values []float64, starts []time.Time, isLine bool, name func(float64) string) chart {
	c := chart{Title: title, Class: class, IsLine: isLine}
	highest := 0.0
	for _, v := range values {
		if v > highest { // false for NaN
			highest = v
		}
	}
	top := niceAbove(highest)
	if isLine {
		top = 1
	}
	y := func(v float64) float64 { return chartBottom - (chartBottom-chartTop)*v/top }
	for _, part := range []float64{0, 0.5, 1} {
		c.Lines = append(c.Lines, tick{y(top * part), name(top * part)})
	}
	step := (chartWidth - chartLeft) / float64(max(1, len(values)))
	x := func(i int) float64 { return chartLeft + step*float64(i) }
	var path strings.Builder
	pen := "M"
	for i, v := range values {
		switch {
		case math.IsNaN(v):
			pen = "M"
		case isLine:
			fmt.Fprintf(&path, "%s%.1f %.1f", pen, x(i)+step/2, y(v))
			if len(values) == 1 {
				path.WriteString("h1")
			}
			pen = "L"
		case v > 0:
			gap := math.Min(2, step/4)
			fmt.Fprintf(&path, "M%.1f %.1fh%.2fV%.1fh-%.2fz", x(i)+gap/2, chartBottom, step-gap, y(v), step-gap)
		}
	}
	c.Path = path.String()
	c.Ticks = dayTicks(starts, x)
	return c
}

// niceAbove returns a round number that is not less than v.
func niceAbove(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, by := range []float64{1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8} { // whose halves are round, too
		if by*unit >= v {
			return by * unit
		}
	}
	return 10 * unit
}

// dayTicks returns at most five labels: the beginnings of months or, if there are fewer than three, days.
func dayTicks(starts []time.Time, x func(int) float64) (ticks []tick) {
	var months []int
	for i, day := range starts {
		if day.Day() == 1 {
			months = append(months, i)
		}
	}
	layout, at := "Jan 2006", months
	if len(months) < 3 {
		layout, at = "2 Jan", nil
		for i := range starts {
			at = append(at, i)
		}
	}
	every := (len(at) + 4) / 5
	for i := 0; i < len(at); i += every {
		if t := x(at[i]); t <= chartWidth-60 { // farther right, the label would be cut off
			ticks = append(ticks, tick{t, starts[at[i]].Format(layout)})
		}
	}
	return ticks
}

func percentText(part float64) string {
	if math.IsNaN(part) {
		return "unknown"
	}
	return oneDecimal(100*part) + "%"
}

func oneDecimal(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

// short formats a number on an axis.
func short(f float64) string {
	for _, unit := range []struct {
		from, size float64
		name       string
	}{{1e9, 1e9, "bn"}, {1e6, 1e6, "m"}, {1e4, 1e3, "k"}} {
		if f >= unit.from {
			return oneDecimal(f/unit.size) + " " + unit.name
		}
	}
	return oneDecimal(f)
}
