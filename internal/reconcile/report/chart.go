package report

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// chart is a bar chart or a line chart.
type chart struct {
	Title  string
	Says   string // a description for screen readers
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
	End  string // text-anchor
}

// The size of a chart, and the limits of its plot area.
const (
	chartWidth  = 520.0
	chartHeight = 150.0
	chartLeft   = 62.0
	chartTop    = 10.0
	chartBottom = 128.0
)

// newChart draws values by the first day of each; NaN means no value. The top of the axis is most, or chosen from the values if
// most is zero.
func newChart(title, class string, values []float64, starts []time.Time, isLine bool, most float64, name func(float64) string) chart {
	c := chart{Title: title, Class: class, IsLine: isLine}
	highest := most
	for _, v := range values {
		if v > highest { // false for NaN
			highest = v
		}
	}
	top := niceAbove(highest)
	if most > 0 {
		top = most
	}
	y := func(v float64) float64 { return chartBottom - (chartBottom-chartTop)*v/top }
	for _, part := range []float64{0, 0.5, 1} {
		c.Lines = append(c.Lines, tick{At: y(top * part), Text: name(top * part)})
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
	for _, by := range []float64{1, 2, 4, 5, 10} {
		if by*unit >= v {
			return by * unit
		}
	}
	return 10 * unit
}

// dayTicks returns at most five labels: the beginnings of months or, if there are fewer than three, days.
func dayTicks(starts []time.Time, x func(int) float64) (ticks []tick) {
	if len(starts) == 0 {
		return nil
	}
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
		t := tick{At: x(at[i]), Text: starts[at[i]].Format(layout), End: "start"}
		if t.At > chartWidth-60 {
			continue // the label would be cut off
		}
		ticks = append(ticks, t)
	}
	return ticks
}
