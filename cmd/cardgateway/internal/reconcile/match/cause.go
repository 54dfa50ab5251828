package match

import (
	"strings"
	"unicode"
)

// Cause is what explains nearly all differences: a list was read or written in another way than it is compared.
type Cause string

// The causes. Times that are nearly all later are Summary.ListLater.
const (
	CauseIDs       Cause = "ids"        // they differ in case, white space or quotation marks
	CauseUniqueIDs Cause = "unique ids" // they are the gateway's
)

// causes counts what may have one cause.
type causes struct {
	factors  map[int]int     // amounts that differ by a power of ten, by its exponent
	lines    []string        // ids that are not at the gateway
	spelt    map[string]bool // ids of the gateway that are not in the list, without what spelling changes
	uniqueID map[string]bool
}

// mostIDs is the maximum number of ids of each side that are looked at: enough to see a cause.
const mostIDs = 10_000

// fewestAlike is how many differences must have the same cause.
const fewestAlike = 5

func (c *causes) add(d *Difference, p *pair) {
	if d.Known {
		return
	}
	if c.factors == nil {
		c.factors, c.spelt, c.uniqueID = map[int]int{}, map[string]bool{}, map[string]bool{}
	}
	switch {
	case d.Class == ClassAmount && len(p.paid) == 1:
		for _, exponent := range []int{-3, -2, -1, 1, 2, 3} {
			if p.sum.Equal(p.paid[0].Amount.Shift(int32(exponent))) {
				c.factors[exponent]++
			}
		}
	case (d.Class == ClassMissingThere || d.Class == ClassRefundMissingThere) && len(c.lines) < mostIDs:
		c.lines = append(c.lines, p.id())
	case (d.Class == ClassMissingHere || d.Class == ClassRefundMissingHere) && len(c.uniqueID) < mostIDs:
		c.spelt[plainID(p.row.ID)] = true
		c.uniqueID[p.row.UniqueID] = true
	}
}

// plainID returns an id without what programs change of it: in lower case, without white space, quotation marks and apostrophes.
func plainID(id string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune("'\"`´’‘“”=", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, id)
}

// find notes the cause of nearly all differences of the period, if there is one.
func (c *causes) find(s *Summary) {
	n := 0
	for _, count := range s.Classes {
		if count.Class.isCounted() {
			n += count.Rows
		}
	}
	isCause := func(alike int) bool { return alike >= fewestAlike && alike*10 >= n*9 }
	for exponent, alike := range c.factors {
		if isCause(alike) {
			s.AmountsTimes = exponent
		}
	}
	spelt, unique := 0, 0
	for _, id := range c.lines {
		if c.spelt[plainID(id)] {
			spelt++
		}
		if c.uniqueID[plainID(id)] {
			unique++
		}
	}
	switch { // each id is missing on both sides
	case isCause(2 * spelt):
		s.Cause = CauseIDs
	case isCause(2 * unique):
		s.Cause = CauseUniqueIDs
	}
}
