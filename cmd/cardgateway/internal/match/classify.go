package match

import (
	"strings"
	"time"
)

// classifier finds the class of the rows and lines with one id.
type classifier struct {
	*matcher
	sides
}

// class returns the difference with the first class that applies, or nil if the pair ties out.
func (c *classifier) class(p *pair) *Difference {
	switch {
	case c.kind == Payment && len(p.paid) > 1:
		return twoSuccesses(p)
	case len(p.lines) == 0:
		return c.missingHere(p)
	case p.row == nil:
		return c.missingThere(p)
	case p.currenciesDiffer():
		return &Difference{Class: Currency, Currency: p.row.Currency, Value: p.row.Amount, At: p.row.At}
	case p.row.Currency != "" && !p.sum.Equal(p.atGateway()):
		return &Difference{Class: Amount, Currency: p.row.Currency, Value: p.sum.Sub(p.atGateway()).Abs(), At: p.row.At}
	}
	return c.state(p)
}

func twoSuccesses(p *pair) *Difference {
	currency := p.paid[0].Currency
	return &Difference{Class: TwoSuccesses, Currency: currency, Value: sumOf(p.paid[1:], currency), At: p.paid[1].At}
}

func (c *classifier) missingHere(p *pair) *Difference {
	if len(p.paid) == 0 {
		return nil
	}
	d := &Difference{Class: MissingHere, Currency: p.row.Currency, Value: p.atGateway(), At: p.paid[0].At}
	if c.atEdge(d.At, c.list) {
		d.Class, d.Why = Timing, "its line may be before the start or after the end of your list; "+c.bothClocks(d.At)
	}
	return d
}

func (c *classifier) missingThere(p *pair) *Difference {
	if p.booked == declined {
		return nil // not paid on either side
	}
	first := p.lines[0]
	d := &Difference{Class: MissingThere, Currency: first.Currency, Value: p.sum, At: first.At}
	d.Why = "not in the copy of the gateway, which is complete from " + c.clock(c.Copy.From) + " to " + c.clock(c.Copy.To)
	if !first.At.IsZero() && (first.At.Before(c.Copy.From.Add(c.Grace)) || !first.At.Before(c.Copy.To.Add(-c.Grace))) {
		d.Class = Timing
		d.Why += "; it may be outside the copy; " + c.bothClocks(first.At)
	}
	return d
}

// state compares the states on both sides.
func (c *classifier) state(p *pair) *Difference {
	d := &Difference{Currency: p.row.Currency, Value: p.row.Amount, At: p.row.At}
	if d.Currency == "" {
		d.Currency, d.Value = p.lines[0].Currency, p.sum
	}
	young := !p.row.At.Before(c.Copy.To.Add(-c.Grace))
	switch state := p.row.State; {
	case state == p.booked:
		return nil
	case state == approved, state == declined:
		d.Class = State
		if young && p.booked != approved && p.booked != declined {
			d.Class, d.Why = Timing, "it became final within the last "+hours(c.Grace)+"; "+c.bothClocks(p.row.At)
		}
	case state == redirect && p.booked == approved && !young:
		d.Class, d.Why = State, "the cardholder did not complete it"
	case p.booked == approved, p.booked == declined:
		d.Class, d.Why = Timing, "its state at the gateway is "+state+"; "+c.bothClocks(p.row.At)
	default:
		return nil // neither is final
	}
	return d
}

// onBothSides describes the times on both sides.
func (c *classifier) onBothSides(p *pair) string {
	text := "at the gateway " + c.clock(p.row.At)
	if at := p.lines[0].At; !at.IsZero() {
		text += ", in your list " + c.clock(at)
	}
	return text
}

func hours(d time.Duration) string { return strings.TrimSuffix(d.String(), "0m0s") }
