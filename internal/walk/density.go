package walk

import (
	"math"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// density is what a walk has learned about the distribution of rows over time, to choose windows that just fit on one page.
// It determines only how many requests a walk needs; completeness does not depend on it.
//
// Shops have days and nights. The density therefore has a rate for each hour of the day, which is blended with the mean if
// little of the hour was observed.
type density struct {
	day        [24]observed
	all        observed
	dispersion float64 // variance of the number of rows in a window, divided by that number: 0 for evenly spaced rows, 1 for random ones
}

// observed is a number of rows and the number of seconds in which they occurred.
type observed struct{ rows, seconds float64 }

func (o *observed) add(rows, seconds float64) {
	o.rows += rows
	o.seconds += seconds
}

// blend returns the observed rate, drawn towards another one: as if rows had occurred at the rate prior for weight more
// seconds. If little was observed, the result is close to prior; if much, it is close to the observed rate. (For random
// rows, this is the mean of the Bayesian posterior with a gamma distribution as its prior.)
func (o *observed) blend(prior, weight float64) float64 {
	return (o.rows + prior*weight) / (o.seconds + weight)
}

const (
	hour = 60 * 60

	// How long an hour of the day must have been observed to weigh as much as the mean. In a month it is observed 30 times.
	dayWeight = 2 * hour

	// A window is planned to fill its page up to this many standard deviations below the capacity. With a smaller margin
	// more windows have to be split, with a larger one pages are emptier; this value needs the fewest requests at 50 to 999
	// rows per page.
	safetyMargin = 1.3

	dispersionWeight = 1.0 / 16 // weight of the newest response in the dispersion, an exponential moving average
	maxDeviation     = 16       // limit of the squared deviation of one response, divided by its expected rows

	// Once this much was observed, an hour counts with at most maxOutlier times its expected rate: one burst does not mean
	// that there is one at the same hour of every day.
	maxOutlier    = 8
	outliersAfter = 48 * hour
)

func newDensity() density { return density{dispersion: 1} }

// start uses the rows of a span, about which nothing else is known, as the mean rate. It has the weight of one hour at most.
func (d *density) start(s span, total int) {
	seconds := float64(s.seconds())
	weight := min(seconds, hour)
	d.all.add(float64(total)/seconds*weight, weight)
}

// isKnown reports whether something has been observed.
func (d *density) isKnown() bool { return d.all.seconds > 0 }

// hourOf counts hours as civil.Time counts seconds.
func hourOf(at civil.Time) int64 {
	h := at / hour
	if at%hour < 0 { // before 1970, round down as well
		h--
	}
	return int64(h)
}

// ofDay returns the observations of an hour of the day.
func (d *density) ofDay(h int64) *observed { return &d.day[(h%24+24)%24] } // h may be negative

// rate returns the expected rows per second in an hour.
func (d *density) rate(h int64) float64 {
	return d.ofDay(h).blend(d.all.rows/max(d.all.seconds, 1), dayWeight)
}

// hours splits a span at full hours.
func (s span) hours(yield func(h int64, within span) bool) {
	for from := s.from; from < s.to; {
		h := hourOf(from)
		to := min(civil.Time(h+1)*hour, s.to)
		if !yield(h, span{from, to}) {
			return
		}
		from = to
	}
}

// expect returns the expected number of rows in a span.
func (d *density) expect(s span) (rows float64) {
	for h, within := range s.hours {
		rows += d.rate(h) * float64(within.seconds())
	}
	return rows
}

// fit returns the expected number of rows for which a window rarely has more rows than fit on a page.
//
// With n rows expected, their standard deviation is sqrt(dispersion*n). fit solves n + safetyMargin*sqrt(dispersion*n) =
// capacity-1 for n, as a quadratic equation for the square root of n.
func (d *density) fit(capacity int) float64 {
	margin := safetyMargin * math.Sqrt(min(d.dispersion, 1)) / 2
	root := math.Sqrt(margin*margin+float64(capacity-1)) - margin
	return max(root*root, 0.5)
}

// cut returns the first part of a span that is expected to fit on a page, including the padding of its query. All rates are
// multiplied by scale.
func (d *density) cut(s span, capacity int, scale float64) span {
	if !d.isKnown() {
		return s
	}
	room := d.fit(capacity)/scale - d.rate(hourOf(s.from))*2*padding
	to := s.to
	for h, within := range s.hours {
		rows := d.rate(h) * float64(within.seconds())
		if rows > room {
			to = within.from + civil.Time(float64(within.seconds())*max(room, 0)/rows)
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

// split divides a span with total rows, too many for a page, into windows that should each fit on one: into at least two, if
// it is long enough for two windows.
func (d *density) split(s span, total, capacity int) []span {
	n := math.Ceil(float64(total) / d.fit(capacity))
	// Far more rows than expected mean a burst at an unknown place. Most of many equal windows would then be empty; a few
	// windows show where the burst is.
	if n > 16 {
		n = 8
	}
	n = max(2, min(n, float64(s.seconds()/minWindow)))

	// Each window gets the same share of the expected rows. A tenth of the rows is expected evenly over the span, in case the
	// rates are wrong.
	length := float64(s.seconds())
	even := (d.expect(s) + 1) / 10 / length
	share := (d.expect(s) + even*length) / n

	windows := make([]span, 0, int(n))
	from, rows := s.from, 0.0 // of the current window
	for h, within := range s.hours {
		for at := within.from; at < within.to && len(windows) < int(n)-1 && s.to-from >= 2*minWindow; {
			rate := d.rate(h) + even
			to := max(at+civil.Time(math.Ceil((share-rows)/rate)), from+minWindow)
			if to = min(to, s.to-minWindow); to > within.to {
				rows += rate * float64(within.to-at)
				break
			}
			windows = append(windows, span{from, to})
			from, at, rows = to, to, 0
		}
	}
	return append(windows, span{from, s.to})
}

// compare updates the dispersion from the difference between announced and expected rows.
func (d *density) compare(expected float64, total int) {
	if expected > 0 {
		difference := float64(total) - expected
		deviation := min(difference*difference/expected, maxDeviation)
		d.dispersion += (deviation - d.dispersion) * dispersionWeight
	}
}

// learn adds the rows of a window that was read completely, by the times at which they happened.
func (d *density) learn(window span, times func(yield func(civil.Time) bool)) {
	rows := make(map[int64]float64) // by hour
	for at := range times {
		if window.has(at) {
			rows[hourOf(at)]++
		}
	}
	for h, within := range window.hours {
		n, seconds := rows[h], float64(within.seconds())
		if d.all.seconds > outliersAfter {
			n = min(n, maxOutlier*(d.rate(h)*seconds+1))
		}
		d.ofDay(h).add(n, seconds)
		d.all.add(n, seconds)
	}
}
