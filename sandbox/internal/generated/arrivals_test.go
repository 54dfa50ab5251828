package generated

import (
	"math"
	"testing"
	"time"
)

var january = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// dayAndNight returns the rates of a shop: very low from 18 to 22 h UTC, highest at noon.
func dayAndNight() [24]float64 {
	return [24]float64{
		3, 4, 5, 6, 6, 5, 5, 5, 5, 5, 6, 8, 10, 10, 8, 5, 2, 1, .3, .2, .1, .2, 1, 2,
	}
}

func TestArrivals(t *testing.T) {
	to := january.AddDate(0, 0, 28)
	tests := []struct {
		name string
		book Seed
	}{
		{"even", Seed{N: 10_000, From: january, To: to}},
		{"random", Seed{N: 10_000, From: january, To: to, Random: true, Seed: 3}},
		{"day and night", Seed{N: 10_000, From: january, To: to, Hours: dayAndNight()}},
		{"random day and night", Seed{N: 10_000, From: january.Add(5 * time.Hour), To: to, Random: true, Hours: dayAndNight()}},
		{"one row", Seed{N: 1, From: january, To: to, Random: true}},
		{"many rows in a second", Seed{N: 10_000, From: january, To: january.Add(time.Second), Random: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := tt.book.prepare()
			last := rows.From
			for i := range rows.Len() {
				at := rows.At(i)
				if at.Before(last) || !at.Before(rows.To) {
					t.Fatalf("row %d at %v, after %v, of [%v, %v)", i, at, last, rows.From, rows.To)
				}
				if !at.Equal(rows.At(i)) {
					t.Fatalf("row %d changes its time", i)
				}
				last = at
			}
		})
	}
	if n := (Seed{}).prepare().Len(); n != 0 {
		t.Errorf("the zero arrivals have %d rows", n)
	}
}

// TestRandomArrivals compares the rows per hour with the Poisson distribution, whose variance is its mean.
func TestRandomArrivals(t *testing.T) {
	const hours, mean = 600, 50
	a := Seed{N: hours * mean, From: january, To: january.Add(hours * time.Hour), Random: true, Seed: 11}.prepare()
	var counts [hours]float64
	for i := range a.N {
		counts[int(a.At(i).Sub(january)/time.Hour)]++
	}
	variance := 0.0
	for _, n := range counts {
		variance += (n - mean) * (n - mean) / hours
	}
	if ratio := variance / mean; math.Abs(ratio-1) > 0.25 {
		t.Errorf("variance is %.2f times the mean, want about 1", ratio)
	}
}

func TestDayAndNight(t *testing.T) {
	a := Seed{N: 50_000, From: january, To: january.AddDate(0, 0, 10), Hours: dayAndNight()}.prepare()
	var counts [24]int
	for i := range a.N {
		counts[a.At(i).UTC().Hour()]++
	}
	sum := 0.0
	for _, rate := range a.Hours {
		sum += rate
	}
	for hour, got := range counts {
		if want := a.Hours[hour] / sum * float64(a.N); math.Abs(float64(got)-want) > 15 {
			t.Errorf("%d rows in hour %d, want %.0f", got, hour, want)
		}
	}
}
