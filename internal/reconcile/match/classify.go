package match

import (
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
)

// class returns the difference with the first class that applies, or nil if the pair ties out.
func (c *comparison) class(p *pair) *Difference {
	switch {
	case len(p.repeats()) > 0:
		again := p.repeats()
		return &Difference{Class: TwoSuccesses, Currency: again[0].Currency, Value: sumOf(again, again[0].Currency), At: again[0].At}
	case len(p.lines) == 0:
		return c.missingHere(p)
	case p.row == nil:
		return c.missingThere(p)
	case p.currenciesDiffer():
		return &Difference{Class: Currency, Currency: p.row.Currency, Value: p.row.Amount, At: p.row.At}
	case p.row.Currency != "" && !p.sum.Equal(p.atGateway()):
		return amount(p)
	}
	return c.state(p)
}

// amount returns the difference between two amounts.
func amount(p *pair) *Difference {
	d := &Difference{Class: Amount, Currency: p.row.Currency, Value: p.sum.Sub(p.atGateway()).Abs(), At: p.row.At}
	switch {
	case len(p.paid) > 0 && p.once().Equal(p.atGateway()):
		d.Class, d.Why = ListedTwice, fmt.Sprintf("%d lines of your list have this id; some of them are repeated", len(p.lines))
	case len(p.lines) > 1:
		d.Why = fmt.Sprintf("%d lines of your list have this id; they are added up", len(p.lines))
	}
	return d
}

func (c *comparison) missingHere(p *pair) *Difference {
	if len(p.paid) == 0 {
		return nil
	}
	d := &Difference{Class: MissingHere, Currency: p.row.Currency, Value: p.atGateway(), At: p.paid[0].At}
	if c.atEdge(d.At) {
		d.Class, d.Why = Unchecked, "its line may be before the start or after the end of your list; "+c.bothClocks(d.At)
	}
	return d
}

func (c *comparison) missingThere(p *pair) *Difference {
	if p.booked == declined {
		return nil // not paid on either side
	}
	first := p.lines[0]
	d := &Difference{Class: MissingThere, Currency: first.Currency, Value: p.sum, At: first.At}
	d.Why = "not in the copy of the gateway, which is complete from " + c.clock(c.Copy.From) + " to " + c.clock(c.Copy.To)
	if !first.At.IsZero() && (first.At.Before(c.Copy.From.Add(c.Grace)) || !first.At.Before(c.Copy.To.Add(-c.Grace))) {
		d.Class = Unchecked
		d.Why += "; it may be outside the copy; " + c.bothClocks(first.At)
	}
	return d
}

// state compares the states on both sides.
func (c *comparison) state(p *pair) *Difference {
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
	case state != redirect && (p.booked == approved || p.booked == declined) && p.row.At.Before(c.Copy.To.Add(-books.AskFor)):
		d.Class = State
		d.Why = "its state at the gateway is still " + state + " after " + fmt.Sprint(int(c.Copy.To.Sub(p.row.At)/day)) + " days, and is no longer queried"
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
func (c *comparison) onBothSides(p *pair) string {
	text := "at the gateway " + c.clock(p.row.At)
	if at := p.lines[0].At; !at.IsZero() {
		text += ", in your list " + c.clock(at)
	}
	return text
}

func hours(d time.Duration) string { return strings.TrimSuffix(d.String(), "0m0s") }

// atEdge reports whether a row of the gateway is so near a limit of the period and of the list that its line may be outside the
// list.
func (c *comparison) atEdge(t time.Time) bool {
	if t.IsZero() {
		return false
	}
	from, to := c.Period.From, c.Period.To
	if !c.list.IsZero() {
		if c.list.From.Before(from) {
			from = c.list.From
		}
		if c.list.To.After(to) {
			to = c.list.To
		}
	}
	return t.Before(from.Add(c.Grace)) || !t.Before(to.Add(-c.Grace))
}
