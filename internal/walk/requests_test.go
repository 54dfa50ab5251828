package walk

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// books are kinds of shops: how rows are distributed over three months.
func books(n int, from, to time.Time) map[string][]time.Time {
	span := to.Sub(from)
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, weight func(time.Time) float64, most float64) []time.Time {
		times := make([]time.Time, 0, n)
		for len(times) < n {
			t := from.Add(time.Duration(random.Float64() * float64(span)))
			if random.Float64()*most < weight(t) {
				times = append(times, t)
			}
		}
		sort.Slice(times, func(i, j int) bool { return times[i].Before(times[j]) })
		return times
	}
	dayNight := func(t time.Time) float64 {
		hour := float64(t.Hour()) + float64(t.Minute())/60
		w := 0.02 + math.Pow(math.Sin(math.Pi*hour/24), 4)
		if t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
			w *= 1.6
		}
		return w
	}
	burst := func(t time.Time) float64 {
		if at := from.Add(span * 2 / 5); !t.Before(at) && t.Before(at.Add(3*time.Hour)) {
			return 100
		}
		return 1
	}
	return map[string][]time.Time{
		"uniform":   evenly(n, from, to),
		"random":    draw(n, func(time.Time) float64 { return 1 }, 1),
		"day-night": draw(n, dayNight, 1.7),
		"100-fold":  draw(n, burst, 100),
	}
}

// TestRequests counts the requests of a walk over three months, as a multiple of the full pages that its rows fill.
func TestRequests(t *testing.T) {
	const pages = 400
	from, to := day0, day0.AddDate(0, 3, 0)
	limits := map[string]float64{"uniform": 1.25, "random": 1.4, "day-night": 1.6, "100-fold": 2}
	sizes := []int{50} // with smaller pages, random variation costs more
	if long() {
		sizes = append(sizes, 100, 200, 999)
	}
	for _, size := range sizes {
		for name, times := range books(pages*size, from, to) {
			t.Run(name, func(t *testing.T) {
				for _, prefetch := range []int{1, 4, 16} {
					after(t, from, to, func(t *testing.T, m *modelGateway, from, to time.Time) {
						m.add(0, times...)
						w := m.walk(from, to, settings{pageSize: size, prefetch: prefetch})
						wantAll(t, m, w)
						r := w.Report()
						multiple := float64(r.Requests) / pages
						t.Logf("%-9s page %3d, prefetch %2d: %d requests for %d full pages: %.2f", name, size, prefetch, r.Requests, pages, multiple)
						if multiple > limits[name] {
							t.Errorf("%s: %.3f requests per page, want at most %.2f", name, multiple, limits[name])
						}
					})
				}
			})
		}
	}
}

// TestRequestsOfSmallShops: months with slightly more rows than a page are ended early, instead of being read in two
// windows and counted.
func TestRequestsOfSmallShops(t *testing.T) {
	for _, rows := range []int{30, 49, 55, 60} { // a month
		after(t, day0, day0.AddDate(1, 0, 0), func(t *testing.T, m *modelGateway, from, to time.Time) {
			m.add(0, evenly(12*rows, from, to)...)
			w := m.walk(from, to, settings{pageSize: 50, prefetch: 1})
			wantAll(t, m, w)
			pages := max(12, 12*float64(rows)/50)
			if r := w.Report(); float64(r.Requests) > 1.6*pages { // the first months of 30 and 60 rows are read in two windows
				t.Errorf("%d rows a month: %d requests for %.0f pages, want at most %.0f", rows, r.Requests, pages, 1.6*pages)
			}
		})
	}
}

// TestRequestsOfEvenShops: a walk begins with as many requests as may be in flight, and uses the numbers of rows that they
// announce, so that the windows of a month end where it ends.
func TestRequestsOfEvenShops(t *testing.T) {
	var took time.Duration
	requests := 0
	for shop := range 8 {
		after(t, day0, day0.AddDate(1, 0, 0), func(t *testing.T, m *modelGateway, from, to time.Time) {
			for month := range 12 {
				m.add(0, evenly(1000+474*shop, from.AddDate(0, month, 0), from.AddDate(0, month+1, 0))...)
			}
			begun := time.Now()
			w := m.walk(from, to, settings{prefetch: 16})
			wantAll(t, m, w)
			took += time.Since(begun)
			requests += w.Report().Requests
		})
	}
	if times := int(took / (50 * time.Millisecond)); times > 38 { // 33 to 36; 41 with one request at first
		t.Errorf("%d response times, want at most 38", times)
	}
	if requests > 407 { // 404; 411 to 425 without the announced numbers
		t.Errorf("%d requests, want at most 407", requests)
	}
}

// TestRequestsByDay: a gateway that ignores the time of day of both bounds, and has a day on two pages, or a round number of rows a day,
// is not queried for each second.
func TestRequestsByDay(t *testing.T) {
	for _, size := range []int{200, 999} {
		const days, limit = 10, 20 * 10
		after(t, day0, day0.AddDate(0, 0, days), func(t *testing.T, m *modelGateway, from, to time.Time) {
			m.add(0, evenly(days*250, from, to)...)
			w := m.walk(from, to, settings{pageSize: size})
			w.config.Source.Fetch = func(ctx context.Context, from, to civil.Time, page, size int) (*modelPage, error) {
				const day = 24 * hour
				return m.fetch(ctx, from-from%day, to-to%day+day-1, page, size)
			}
			wantAll(t, m, w)
			if r := w.Report(); r.Requests > limit {
				t.Errorf("pages of %d: %d requests for %d days, want at most %d", size, r.Requests, days, limit)
			}
		})
	}
}

// TestRequestsAtClockChanges: a burst of rows at a clock change that skips time costs about as many requests as one days later.
func TestRequestsAtClockChanges(t *testing.T) {
	for _, change := range []struct{ zone, at string }{
		{"Europe/Berlin", "2025-03-30T01:00:00Z"}, {"America/New_York", "2025-03-09T07:00:00Z"}, {"Australia/Lord_Howe", "2025-10-04T15:30:00Z"},
		{"America/Sao_Paulo", "2018-11-04T03:00:00Z"}, {"Pacific/Apia", "2011-12-30T10:00:00Z"}, {"Pacific/Kwajalein", "1993-08-21T12:00:00Z"},
	} {
		zone, err := time.LoadLocation(change.zone)
		if err != nil {
			t.Skipf("no zone data: %v", err)
		}
		at, err := time.Parse(time.RFC3339, change.at)
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range []time.Duration{-2 * time.Second, -time.Second, 0, time.Second, 10 * time.Second} {
			for _, size := range []int{100, 999} {
				t.Run(fmt.Sprintf("%s %v %d", change.zone, after, size), func(t *testing.T) {
					count := func(at time.Time) (requests int) {
						synctest.Test(t, func(t *testing.T) {
							m := &modelGateway{loc: zone, latency: 50 * time.Millisecond}
							m.add(0, evenly(600, at.AddDate(0, 0, -10), at.AddDate(0, 0, 10))...)
							m.add(0, evenly(3000, at, at.Add(2*time.Second))...)
							time.Sleep(max(0, time.Until(at.AddDate(0, 1, 0))))
							w := m.walk(at.AddDate(0, 0, -11), at.AddDate(0, 0, 11), settings{pageSize: size})
							wantAll(t, m, w)
							requests = w.Report().Requests
						})
						return requests
					}
					if here, later := count(at.Add(after)), count(at.Add(after).AddDate(0, 0, 40)); here > 2*later {
						t.Errorf("%d requests, and %d for the same rows 40 days later", here, later)
					}
				})
			}
		}
	}
}

// TestRequestsAfterAShortProbe: rows in a first window of seconds, here before a clock change that skips as much as a window has, do not
// make the windows of the hours after it shorter.
func TestRequestsAfterAShortProbe(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("no zone data: %v", err)
	}
	change := time.Date(2025, 3, 30, 1, 0, 0, 0, time.UTC)
	for _, before := range []time.Duration{2 * time.Second, 20 * time.Second, 40 * time.Minute} {
		t.Run(before.String(), func(t *testing.T) {
			after(t, change.Add(-before), change.Add(2*time.Hour), func(t *testing.T, m *modelGateway, start, end time.Time) {
				m.loc = berlin
				m.add(0, evenly(200, change.Add(-2*time.Second), change.Add(2*time.Second))...)
				m.add(0, evenly(60, start, end)...)
				w := m.walk(start, end, settings{pageSize: 50, window: time.Hour})
				wantAll(t, m, w)
				if requests := w.Report().Requests; requests > 100 {
					t.Errorf("%d requests for 260 rows in 2 hours, want at most 100", requests)
				}
			})
		})
	}
}
