package walk

import (
	"math"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// TestFit: the expected rows leave room for safetyMargin standard deviations.
func TestFit(t *testing.T) {
	for _, tt := range []struct {
		dispersion float64
		capacity   int
		want       float64
	}{
		{0, 50, 49}, {1, 50, 40.7}, {5, 50, 40.7}, {0.25, 50, 44.65}, {1, 999, 957.7}, {0, 1, 0.5}, {1, 1, 0.5}, {1, 2, 0.5},
	} {
		d := density{dispersion: tt.dispersion}
		got := d.fit(tt.capacity)
		if math.Abs(got-tt.want) > 0.1 {
			t.Errorf("dispersion %v, pages of %d: got %v, want %v", tt.dispersion, tt.capacity, got, tt.want)
		}
		if n := got + safetyMargin*math.Sqrt(min(tt.dispersion, 1)*got); got > 0.5 && math.Abs(n-float64(tt.capacity-1)) > 1e-6 {
			t.Errorf("dispersion %v, pages of %d: with its margin %v is %v", tt.dispersion, tt.capacity, got, n)
		}
	}
}

func TestBlend(t *testing.T) {
	for _, tt := range []struct {
		name          string
		observed      observed
		prior, weight float64
		want          float64
	}{
		{"nothing observed", observed{}, 3, 10, 3},
		{"as much as the weight", observed{rows: 10, seconds: 10}, 3, 10, 2},
		{"much more than the weight", observed{rows: 1e6, seconds: 1e6}, 3, 10, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.observed.blend(tt.prior, tt.weight); math.Abs(got-tt.want) > 1e-3 {
				t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
			}
		})
	}
}

// TestHourOf: hours are rounded down, also before 1970, and each has its place in the day.
func TestHourOf(t *testing.T) {
	d := newDensity()
	for _, tt := range []struct {
		at    civil.Time
		hour  int64
		ofDay int
	}{{0, 0, 0}, {3599, 0, 0}, {3600, 1, 1}, {-1, -1, 23}, {-3600, -1, 23}, {-3601, -2, 22}, {-7 * 24 * hour, -7 * 24, 0}, {24 * hour, 24, 0}} {
		if h := hourOf(tt.at); h != tt.hour || d.ofDay(h) != &d.day[tt.ofDay] {
			t.Errorf("%d: got hour %d, want %d, and its place in the day", tt.at, h, tt.hour)
		}
	}
}

// TestOutlier: once the hours are known, a burst counts as a few times the expected rows.
func TestOutlier(t *testing.T) {
	d := newDensity()
	every := func(s span, step civil.Time) func(yield func(civil.Time) bool) {
		return func(yield func(civil.Time) bool) {
			for at := s.from; at < s.to && yield(at); at += step {
			}
		}
	}
	for day := range civil.Time(7) {
		s := span{day * 24 * hour, (day + 1) * 24 * hour}
		d.learn(s, every(s, 60))
	}
	burst := span{7 * 24 * hour, 7*24*hour + hour}
	before := d.expect(burst)
	d.learn(burst, every(burst, 1))
	if got := d.all.rows; math.Abs(before-60) > 0.1 || got > 7*24*60+maxOutlier*61 || got < 7*24*60+maxOutlier*60 {
		t.Errorf("after an hour of 3600 rows where %v were expected, %v rows count", before, got)
	}
}

// FuzzDensity checks that windows cover their span without gaps, and in a finite number of steps.
func FuzzDensity(f *testing.F) {
	f.Add(int64(1_700_000_000), int64(30*86400), 2000, 100, uint16(7))
	f.Add(int64(1_707_552_000-4), int64(8), 120, 50, uint16(1))
	f.Add(int64(-5_000_000_001), int64(86400), 300, 50, uint16(9)) // hours before 1970
	f.Fuzz(func(t *testing.T, from, length int64, total, capacity int, seed uint16) {
		if from < -1<<36 || from > 1<<33 || length < 2*minWindow || length > 31*86400 || total < 1 || total > 1e7 || capacity < 1 || capacity > 5000 {
			t.Skip()
		}
		d := newDensity()
		whole := span{civil.Time(from), civil.Time(from + length)}
		d.start(whole, total)
		for i := range int(seed % 50) {
			window := span{whole.from + civil.Time(i)*3600, whole.from + civil.Time(i)*3600 + 1800}
			d.compare(d.expect(window), i*int(seed)%977)
			d.learn(window, func(yield func(civil.Time) bool) {
				for n := range i * int(seed) % 977 {
					if !yield(window.from + civil.Time(n)%1800) {
						return
					}
				}
			})
		}
		windows := d.split(whole, total, capacity)
		if len(windows) < 2 {
			t.Fatalf("%d windows", len(windows))
		}
		next := whole.from
		for _, p := range windows {
			if p.from != next || p.seconds() < minWindow {
				t.Fatalf("window %v after %d", p, next)
			}
			next = p.to
		}
		if next != whole.to {
			t.Fatalf("windows end at %d, want %d", next, whole.to)
		}
		if c := d.cut(whole, capacity, 1); c.from != whole.from || c.seconds() < minWindow || c.to > whole.to {
			t.Fatalf("cut %v of %v", c, whole)
		}
	})
}
