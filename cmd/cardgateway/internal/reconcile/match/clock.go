package match

import (
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
)

// clocks compares the times of the merchant's lines with those of the gateway. A list that was read in a wrong time zone ties out nearly
// everywhere: only its lines near the limits of the period differ.
type clocks struct {
	compared int
	later    map[time.Duration]int // lines, by how many half hours or days they are later; those that are not within nearby of any are missing
}

const (
	nearby      = 5 * time.Minute
	fewestLines = 20 // fewer say nothing
)

// add compares one payment with its only line.
func (c *clocks) add(row *books.Row, line *books.Line) {
	isDate := line.Until.After(line.At)
	if row.At.IsZero() || line.At.IsZero() || isDate {
		return
	}
	if c.later == nil {
		c.later = make(map[time.Duration]int)
	}
	c.compared++
	later := line.At.Sub(row.At)
	if halfHours := later.Round(30 * time.Minute); (later-halfHours).Abs() <= nearby && (halfHours.Abs() <= 14*time.Hour || halfHours%day == 0) {
		c.later[halfHours]++
	}
}

// apart returns by how much the lines are later than the gateway's payments, if nine of ten are by whole half hours, and not by zero: by
// the most frequent one, since summer time changes it. Otherwise it returns zero.
func (c *clocks) apart() (most time.Duration) {
	n := 0
	for later, lines := range c.later {
		if later == 0 {
			continue
		}
		n += lines
		if lines > c.later[most] || most == 0 || lines == c.later[most] && later < most {
			most = later
		}
	}
	if c.compared < fewestLines || n*10 < c.compared*9 {
		return 0
	}
	return most
}
