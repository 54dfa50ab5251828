package walk

import (
	"math"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// density is what a walk has learned of how rows are distributed over time, so that it can ask for windows that just fit
// one page. It decides only how many requests a walk needs; completeness does not depend on it.
//
// Shops have days, nights and weekends. The density therefore keeps a rate for each hour of the week. While little of an
// hour was observed, its rate is blended with that of the same hour on all days, and that one with the mean.
type density struct {
	known      bool // something has been observed
	week       [7 * 24]observed
	day        [24]observed
	all        observed
	dispersion float64 // variance of the rows in a window, as a multiple of their number: 0 if they come evenly, 1 if at random
}

// observed is a number of rows and the seconds in which they came.
type observed struct{ rows, seconds float64 }

func (o *observed) add(rows, seconds float64) {
	o.rows += rows
	o.seconds += seconds
}

// blend returns the observed rate, drawn towards another one: as if rows had come at the rate prior for weight seconds
// more. With little observed the result is close to prior, with much it is close to what was observed. (For rows that come
// at random, this is the mean of the Bayesian posterior with a gamma distribution as its prior.)
func (o *observed) blend(prior, weight float64) float64 {
	return (o.rows + prior*weight) / (o.seconds + weight)
}

const (
	hour = 60 * 60

	// How long an hour of the day must have been observed to count as much as the mean, and an hour of the week to count as
	// much as that hour of the day. One is seen 30 times a month, the other 4 times.
	dayWeight  = 2 * hour
	weekWeight = 6 * hour

	// A page is planned to be filled up to so many standard deviations below its end. Less is refused more often and has
	// to be narrowed, more leaves pages emptier: this costs the fewest requests at 50 to 999 rows a page.
	safetyMargin = 1.3

	dispersionWeight = 1.0 / 16 // of the newest response in the dispersion, an exponential moving average
	maxDeviation     = 16       // squared deviation of one response, in multiples of its expected rows, that counts at most

	// Once so much was observed, the rate of an hour counts at most as maxOutlier times the one expected: a burst is no
	// reason to expect another at the same hour of every day.
	maxOutlier    = 8
	outliersAfter = 48 * hour
)

func newDensity() density { return density{dispersion: 1} }

// start takes the rows of a span, about which nothing else is known, as the mean rate. It weighs as little as an hour.
func (d *density) start(s span, total int) {
	d.known = true
	d.all.add(float64(total)/float64(s.seconds())*hour, hour)
}

// hourOf counts hours as civil.Time counts seconds.
func hourOf(at civil.Time) int64 {
	h := at / hour
	if at%hour < 0 { // before 1970, round down as well
		h--
	}
	return int64(h)
}

// slots returns where the observations of an hour are kept.
func (d *density) slots(h int64) (ofDay, ofWeek *observed) {
	const hours = 7 * 24
	i := (h%hours + hours) % hours // h may be negative
	return &d.day[i%24], &d.week[i]
}

// rate returns the rows per second that are expected in an hour.
func (d *density) rate(h int64) float64 {
	ofDay, ofWeek := d.slots(h)
	mean := d.all.rows / max(d.all.seconds, 1)
	return ofWeek.blend(ofDay.blend(mean, dayWeight), weekWeight)
}

// hours cuts a span at full hours.
func (s span) hours(yield func(h int64, part span) bool) {
	for from := s.from; from < s.to; {
		h := hourOf(from)
		to := min(civil.Time(h+1)*hour, s.to)
		if !yield(h, span{from, to}) {
			return
		}
		from = to
	}
}

// expect returns how many rows are expected in a span.
func (d *density) expect(s span) (rows float64) {
	for h, part := range s.hours {
		rows += d.rate(h) * float64(part.seconds())
	}
	return rows
}

// isSteady reports whether rows come about as expected. Where they come in bursts, the number of rows in a month does not
// say how dense they are in a part of it.
func (d *density) isSteady() bool { return d.dispersion < 2 }

// fit returns how many rows to expect of a window so that chance seldom brings more than a page holds.
//
// With n rows expected, their standard deviation is sqrt(dispersion*n). fit solves
// n + safetyMargin*sqrt(dispersion*n) = capacity-1 for n, as a quadratic equation for the root of n.
func (d *density) fit(capacity int) float64 {
	margin := safetyMargin * math.Sqrt(min(d.dispersion, 1)) / 2
	root := math.Sqrt(margin*margin+float64(capacity-1)) - margin
	return max(root*root, 0.5)
}

// cut returns the first part of a span, which is expected to fit a page together with the padding of its query. All rates
// are taken times scale.
func (d *density) cut(s span, capacity int, scale float64) span {
	if !d.known {
		return s
	}
	room := d.fit(capacity)/scale - d.rate(hourOf(s.from))*2*padding
	to := s.to
	for h, part := range s.hours {
		rows := d.rate(h) * float64(part.seconds())
		if rows > room {
			to = part.from + civil.Time(float64(part.seconds())*max(room, 0)/rows)
			break
		}
		room -= rows
	}
	to = max(to, s.from+minWindow)
	if s.to-to < minWindow {
		to = s.to
	}
	return span{s.from, to}
}

// split cuts a span in which there are total rows, too many for a page, into parts that should each fit one: into two at
// least, if it has the length of two windows.
func (d *density) split(s span, total, capacity int) []span {
	n := math.Ceil(float64(total) / d.fit(capacity))
	// Far more rows than expected are a burst at an unknown place, of which most of many equal parts would hold nothing. A
	// few parts show where it is.
	if n > 16 {
		n = 8
	}
	n = max(2, min(n, float64(s.seconds()/minWindow)))

	// Each part gets the same share of the expected rows. A tenth of the rows is expected evenly over the span, in case
	// the rates are wrong about where they are.
	length := float64(s.seconds())
	even := (d.expect(s) + 1) / 10 / length
	share := (d.expect(s) + even*length) / n

	parts := make([]span, 0, int(n))
	from, rows := s.from, 0.0 // of the part at hand
	for h, part := range s.hours {
		for at := part.from; at < part.to && len(parts) < int(n)-1 && s.to-from >= 2*minWindow; {
			rate := d.rate(h) + even
			to := max(at+civil.Time(math.Ceil((share-rows)/rate)), from+minWindow)
			if to = min(to, s.to-minWindow); to > part.to {
				rows += rate * float64(part.to-at)
				break
			}
			parts = append(parts, span{from, to})
			from, at, rows = to, to, 0
		}
	}
	return append(parts, span{from, s.to})
}

// compare learns the dispersion from how far the rows that a response announced are from those that were expected.
func (d *density) compare(expected float64, total int) {
	if expected > 0 {
		difference := float64(total) - expected
		deviation := min(difference*difference/expected, maxDeviation)
		d.dispersion += (deviation - d.dispersion) * dispersionWeight
	}
}

// learn adds the rows of a window that was read whole, by the times at which they happened.
func (d *density) learn(window span, times func(yield func(civil.Time) bool)) {
	rows := make(map[int64]float64) // by hour
	for at := range times {
		if window.has(at) {
			rows[hourOf(at)]++
		}
	}
	for h, part := range window.hours {
		n, seconds := rows[h], float64(part.seconds())
		if d.all.seconds > outliersAfter {
			n = min(n, maxOutlier*(d.rate(h)*seconds+1))
		}
		ofDay, ofWeek := d.slots(h)
		ofDay.add(n, seconds)
		ofWeek.add(n, seconds)
		d.all.add(n, seconds)
	}
}
