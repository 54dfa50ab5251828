package match

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
)

// causes counts what one cause may explain: a list was read or written in another way than it is compared.
type causes struct {
	timed    int                   // lines with a time of day
	later    map[time.Duration]int // of these, by how many half hours or days they are later; those that are within nearby of none, or of 0, are missing
	factors  map[int]int           // amounts that differ by a power of ten, by its exponent
	lines    []string              // ids that are not at the gateway
	spelt    map[string]bool       // ids of the gateway that are not in the list, without what spelling changes
	uniqueID map[string]bool
}

const (
	nearby   = 5 * time.Minute
	minLines = 20     // with a time; fewer say nothing
	minAlike = 5      // differences with the same cause
	maxIDs   = 10_000 // of each side that are looked at: enough to see a cause
)

func newCauses() *causes {
	return &causes{later: map[time.Duration]int{}, factors: map[int]int{}, spelt: map[string]bool{}, uniqueID: map[string]bool{}}
}

// addTimes compares the times of a payment and its only line. A list that was read in a wrong time zone ties out nearly everywhere: only its
// lines near the limits of the period differ.
func (c *causes) addTimes(row *books.Row, line *books.Line) {
	if row.At.IsZero() || line.At.IsZero() || line.Until.After(line.At) { // the line has only a date
		return
	}
	c.timed++
	later := line.At.Sub(row.At)
	halfHours := later.Round(30 * time.Minute)
	if halfHours != 0 && (later-halfHours).Abs() <= nearby && (halfHours.Abs() <= 14*time.Hour || halfHours%day == 0) {
		c.later[halfHours]++
	}
}

func (c *causes) add(d *Difference, p *pair) {
	switch {
	case d.Known:
	case d.Class == ClassAmount && len(p.paid) == 1:
		for _, exponent := range []int{-3, -2, -1, 1, 2, 3} {
			if p.sum.Equal(p.paid[0].Amount.Shift(int32(exponent))) {
				c.factors[exponent]++
			}
		}
	case (d.Class == ClassMissingThere || d.Class == ClassRefundMissingThere) && len(c.lines) < maxIDs:
		c.lines = append(c.lines, plainID(p.id()))
	case (d.Class == ClassMissingHere || d.Class == ClassRefundMissingHere) && len(c.uniqueID) < maxIDs:
		c.spelt[plainID(p.row.ID)] = true
		c.uniqueID[p.row.UniqueID] = true
	}
}

// plainID returns an id without what programs change of it: in lower case, without white space, quotation marks, apostrophes and zeros in front.
func plainID(id string) string {
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune("'\"`´’‘“”=", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, id), "0")
}

// find says what explains nearly all of the differences that are counted, and what to do.
func (c *causes) find(s *Summary) (all []string) {
	n := s.rows(Class.isCounted)
	isCause := func(alike int) bool { return alike >= minAlike && alike*10 >= n*9 }
	if later := c.apart(); later != 0 {
		unit, word, cure := "hours", "later", "Is its time zone right? See --list-zone."
		if later.Abs() == time.Hour {
			unit = "hour"
		}
		if later < 0 {
			word = "earlier"
		}
		if later%day == 0 {
			cure = "Are its dates right? See --dates."
		}
		all = append(all, fmt.Sprintf("Nearly all payments of your list are %g %s %s than at the gateway. %s", later.Abs().Hours(), unit, word, cure))
	}
	for exponent, alike := range c.factors {
		by := "times those of the gateway"
		if exponent < 0 {
			by = "times too small"
		}
		if isCause(alike) {
			all = append(all, fmt.Sprintf("Nearly all amounts that differ are %g %s. How does your list write amounts? See --amounts.",
				math.Pow10(max(exponent, -exponent)), by))
		}
	}
	spelt, unique := 0, 0
	for _, id := range c.lines {
		if c.spelt[id] {
			spelt++
		}
		if c.uniqueID[id] {
			unique++
		}
	}
	switch { // each id is missing on both sides
	case isCause(2 * spelt):
		all = append(all, "Nearly all ids that are missing on one side differ only in case, blanks, apostrophes or zeros in front. Correct the export, "+
			"or name another column with --columns transaction_id=NAME.")
	case isCause(2 * unique):
		all = append(all, "The ids of your list are the gateway's. Name their column with --columns unique_id=NAME.")
	}
	return all
}

// apart returns by how much the lines are later than the gateway's payments, if nine of ten are by whole half hours: by
// the most frequent one, since summer time changes it. Otherwise it returns zero.
func (c *causes) apart() (most time.Duration) {
	n := 0
	for later, lines := range c.later {
		n += lines
		if lines > c.later[most] || lines == c.later[most] && later < most {
			most = later
		}
	}
	if c.timed < minLines || n*10 < c.timed*9 {
		return 0
	}
	return most
}
