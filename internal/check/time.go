package check

import "time"

// Year checks that a time can be written with a year of four digits, in whatever zone.
func (v *Violations) Year(member string, t time.Time) bool {
	const first, last = 1, 9998
	if year := t.Year(); year < first || year > last {
		v.Add(member, RuleRange, "must be in a year from %d to %d", first, last)
		return false
	}
	return true
}
