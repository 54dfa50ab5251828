package walk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// long reports whether the larger variants of the tests are requested.
func long() bool { return os.Getenv("CARDGATEWAY_LONG") != "" }

// TestMatrix walks with every combination of what the interface leaves open, and counts errors.
func TestMatrix(t *testing.T) {
	zones := []string{"Asia/Singapore", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"}
	if long() {
		zones = append(zones, "Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca", "America/St_Johns")
	}
	var combinations, rows, missed, repeated, foreign, requests int
	for _, zone := range zones {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Skipf("no zone data: %v", err)
		}
		for bits := range 1 << 6 {
			for n, start := range []time.Time{
				time.Date(2023, 1, 29, 3, 4, 5, 0, loc), time.Date(2023, 1, 31, 23, 59, 59, 500, loc), time.Date(2023, 9, 30, 12, 0, 1, 0, loc),
			} {
				seed := uint64(bits*3 + n)
				if !long() && (bits+n)%3 != 0 {
					continue
				}
				c := matrixCase{
					gateway: modelGateway{
						loc: loc, startExclusive: bits&1 > 0, endExclusive: bits&2 > 0, oldestFirst: bits&4 > 0,
						unstableTies: bits&8 > 0, latency: 50 * time.Millisecond,
					},
					start: start, burst: bits&16 > 0, arriving: bits&32 > 0, prefetch: 1 + int(seed%5), seed: seed,
				}
				synctest.Test(t, func(t *testing.T) { c.run(t) })
				combinations++
				rows += len(c.gateway.rows)
				missed += c.missed
				repeated += c.repeated
				foreign += c.foreign
				requests += c.gateway.requests
			}
		}
	}
	t.Logf("%d combinations, %d rows, %d requests: %d missed, %d repeated, %d outside the range",
		combinations, rows, requests, missed, repeated, foreign)
	if missed+repeated+foreign > 0 {
		t.Fail()
	}
}

type matrixCase struct {
	gateway                   modelGateway
	start                     time.Time
	burst, arriving           bool
	prefetch                  int
	seed                      uint64
	missed, repeated, foreign int
}

func (c *matrixCase) run(t *testing.T) {
	end := c.start.AddDate(0, 0, 62)
	time.Sleep(time.Until(end)) // the last rows are younger than the lag
	m := &c.gateway
	random := rand.New(rand.NewPCG(c.seed, 1))
	add := func(n int, delay time.Duration, at func() time.Time) {
		for range n {
			m.add(delay, at())
		}
	}
	anywhere := func() time.Time { return c.start.Add(time.Duration(random.Int64N(int64(end.Sub(c.start))))) }
	add(1200, 0, anywhere)
	add(40, 0, func() time.Time { return c.start.Add(-time.Duration(random.IntN(10)) * time.Second) })
	add(40, 0, func() time.Time { return end.Add(time.Duration(random.IntN(10)-5) * time.Second) })
	add(60, 10*time.Minute, func() time.Time { return end.Add(-time.Duration(random.IntN(1800)) * time.Second) })
	if _, change := c.start.ZoneBounds(); !change.IsZero() && change.Before(end) {
		add(100, 0, func() time.Time { return change.Add(time.Duration(random.IntN(3*3600)-5400) * time.Second) })
	}
	if c.burst {
		for range 3 {
			second := anywhere().Truncate(time.Second)
			add(150, 0, func() time.Time { return second })
		}
	}
	begun := time.Now()
	if c.arriving {
		for range 12 { // they become visible long after they happened, and while the first windows are read
			old := c.start.Add(time.Duration(random.Int64N(int64(40 * 24 * time.Hour))))
			m.add(begun.Add(time.Duration(random.IntN(150))*time.Millisecond).Sub(old), old)
		}
	}
	w := m.walk(c.start, end, settings{pageSize: 50, prefetch: c.prefetch})
	got, err := collect(context.Background(), w)
	if err != nil {
		t.Errorf("%v: %v", c, err)
	}
	cover := calendar{loc: m.loc}.cover(c.start, end)
	complete := w.Report().CompleteUpTo
	if want := begun.Add(-lag); complete.Before(want.Add(-2*time.Hour)) || complete.After(want) {
		t.Errorf("complete up to %v, want about %v", complete, want)
	}
	must := func(r modelRow) bool {
		return !r.at.Before(c.start) && r.at.Before(end) && (!r.visible.After(begun) || r.at.Before(complete))
	}
	c.missed, c.repeated, c.foreign = judge(t, m, got, must, func(r modelRow) bool { return cover.has(r.second) })
	if c.missed+c.repeated+c.foreign > 0 {
		t.Errorf("%v: %d missed, %d repeated, %d outside; %+v", c, c.missed, c.repeated, c.foreign, w.Report())
	}
	if m.most > c.prefetch {
		t.Errorf("%v: %d requests in flight", c, m.most)
	}
}

func (c *matrixCase) String() string {
	m := &c.gateway
	return fmt.Sprintf("%v from %v, exclusive %v/%v, oldest first %v, unstable %v, burst %v, arriving %v",
		m.loc, c.start, m.startExclusive, m.endExclusive, m.oldestFirst, m.unstableTies, c.burst, c.arriving)
}
