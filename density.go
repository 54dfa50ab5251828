package cardgateway

import "math"

// density is what a walk has learned of how rows spread over time, so that it can ask for stretches that just fit one
// page. Shops have days and nights and weekends: it keeps a rate for each hour of the week, leaning on the same hour
// of all days, and on the mean, for as long as little of that hour was seen. It decides only how many requests a walk
// needs; nothing about completeness hangs on it.
type density struct {
	known  bool // an answer has been seen
	week   [7 * 24]tally
	day    [24]tally
	all    tally
	level  float64 // how the rows of late compare with what the rates predict
	spread float64 // variance of the rows in a window, as a multiple of their number: 0 for clockwork, 1 for chance
}

// tally is a number of rows and the seconds in which they came.
type tally struct{ rows, seconds float64 }

func (t *tally) add(rows, seconds float64) {
	t.rows += rows
	t.seconds += seconds
}

// leaning returns the rate, as if weight seconds more had been seen in which rows came at the rate of prior.
func (t *tally) leaning(prior, weight float64) float64 {
	return (t.rows + prior*weight) / (t.seconds + weight)
}

const (
	hour       = 60 * 60
	dayWeight  = 2 * hour // how much of an hour of the day must be seen to count as much as the mean
	weekWeight = 6 * hour // and of an hour of the week to count as much as that hour of all days
	caution    = 1.3      // standard deviations that are kept free in a page; costs the fewest requests at 50 to 999 rows
	following  = 0.15     // weight of the newest full page in level
	noticing   = 1.0 / 16 // weight of the newest answer in spread
	surprise   = 4        // an answer counts as at most so many times what was expected
	outlier    = 8        // and a rate as at most so many times the one known
	settledIn  = 48 * hour
)

func newDensity() density { return density{level: 1, spread: 1} }

// start takes an answer to what was asked for blindly as the mean rate.
func (d *density) start(core span, total int) {
	d.known = true
	d.all.add(float64(total)/float64(core.seconds())*hour, hour)
}

// rate returns the rows per second that are expected in the hour that begins at second.
func (d *density) rate(second int64) float64 {
	h := floorDiv(second, hour)
	ofDay := d.day[floorMod(h, 24)].leaning(d.all.rows/max(d.all.seconds, 1), dayWeight)
	return d.level * d.week[floorMod(h, 7*24)].leaning(ofDay, weekWeight)
}

// hours cuts a span at full hours, for use with range.
func (s span) hours(yield func(span) bool) {
	for from := s.from; from < s.to; {
		to := min((floorDiv(from, hour)+1)*hour, s.to)
		if !yield(span{from, to}) {
			return
		}
		from = to
	}
}

// expect returns how many rows are expected in a span.
func (d *density) expect(s span) (rows float64) {
	for h := range s.hours {
		rows += d.rate(h.from) * float64(h.seconds())
	}
	return rows
}

// steady reports whether rows come about as expected, so that how many there are in a month says how dense they are.
// In a burst they are not where they are expected.
func (d *density) steady() bool { return d.spread < 2 }

// fit returns how many rows to aim for, so that chance seldom brings more than capacity.
func (d *density) fit(capacity int) float64 {
	margin := caution * math.Sqrt(min(d.spread, 1)) / 2
	root := math.Sqrt(margin*margin+float64(capacity-1)) - margin
	return max(root*root, 0.5)
}

// cut returns the first part of a span, which is expected to hold as many rows as fit a page, overhang included.
// The rates are taken times level.
func (d *density) cut(s span, capacity int, level float64) span {
	if !d.known {
		return s
	}
	room := d.fit(capacity)/level - d.rate(s.from)*2*overhang
	to := s.to
	for h := range s.hours {
		rows := d.rate(h.from) * float64(h.seconds())
		if rows > room {
			to = h.from + int64(float64(h.seconds())*max(room, 0)/rows)
			break
		}
		room -= rows
	}
	to = max(to, s.from+narrowest)
	if s.to-to < narrowest {
		to = s.to
	}
	return span{s.from, to}
}

// split cuts a span that was found to hold total rows into parts that should each fit a page. Far more rows than
// expected are a burst somewhere inside: a few parts show where. A span of at least twice the narrowest window is cut
// into two parts at least.
func (d *density) split(s span, total, capacity int) []span {
	const many, few = 16, 8
	n := math.Ceil(float64(total) / d.fit(capacity))
	if n > many {
		n = few
	}
	n = max(2, min(n, float64(s.seconds()/narrowest)))
	// A tenth of the weight is spread evenly, in case the rates are wrong about where the rows are.
	even := (d.expect(s) + 1) / 10 / float64(s.seconds())
	share := (d.expect(s) + even*float64(s.seconds())) / n

	parts := make([]span, 0, int(n))
	from, weight := s.from, 0.0
	for h := range s.hours {
		for at := h.from; at < h.to && len(parts) < int(n)-1 && s.to-from >= 2*narrowest; {
			rate := d.rate(h.from) + even
			to := max(at+int64(math.Ceil((share-weight)/rate)), from+narrowest)
			if to = min(to, s.to-narrowest); to > h.to {
				weight += rate * float64(h.to-at)
				break
			}
			parts = append(parts, span{from, to})
			from, at, weight = to, to, 0
		}
	}
	return append(parts, span{from, s.to})
}

// compare notes how many rows an answer announced where expected were planned for.
func (d *density) compare(core span, expected float64, total, capacity int) {
	rows := float64(total)
	usual := d.expect(core)
	weight := following * min(1, usual/d.fit(capacity))
	d.level *= math.Pow(min(max((rows+1)/(usual+1), 1.0/surprise), surprise), weight)
	if expected > 0 {
		residual := (rows - expected) * (rows - expected) / expected
		d.spread += (min(residual, surprise*surprise) - d.spread) * noticing
	}
}

// learn adds the rows of a core that was read whole, by the seconds in which they came.
func (d *density) learn(core span, seconds func(yield func(int64) bool)) {
	rows := make(map[int64]float64)
	for second := range seconds {
		if core.has(second) {
			rows[floorDiv(second, hour)]++
		}
	}
	for piece := range core.hours {
		h := floorDiv(piece.from, hour)
		n, length := rows[h], float64(piece.seconds())
		if d.all.seconds > settledIn { // a burst is no reason to expect one every day at that time
			n = min(n, outlier*(d.rate(piece.from)*length+1))
		}
		n /= d.level
		d.all.add(n, length)
		d.day[floorMod(h, 24)].add(n, length)
		d.week[floorMod(h, 7*24)].add(n, length)
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
