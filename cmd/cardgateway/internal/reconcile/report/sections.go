package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// section contains the rows of one class.
type section struct {
	match.About
	IsKnown bool
	Count   int
	Rows    []row
	Rest    []string // the rows that the page does not show, by kind and currency
}

type row struct {
	ID, Value, Age string
	Gateway, Books []entry
	None, NoLine   string // shown if Gateway or Books is empty
	Why            []string

	Month, Now, Effect string // of a row of an earlier month: which, what has become of it, and by how much its total has changed
	Was                []entry
}

// entry is a payment, refund or line on one side.
type entry struct{ Money, Details string }

// Sections returns the rows that the page shows, by class; known differences come last.
func (v *view) Sections() (all []section) {
	for _, known := range []bool{false, true} {
		for _, a := range match.Classes {
			s := section{About: a, IsKnown: known}
			groups := slices.DeleteFunc(slices.Clone(v.shown.groups), func(g *group) bool { return g.class != a.Class || g.known != known })
			slices.SortFunc(groups, func(x, y *group) int { return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.currency, y.currency)) })
			for _, g := range groups {
				s.Count += g.rows
				rows, rest := v.shown.shown(g)
				for _, d := range rows {
					s.Rows = append(s.Rows, v.row(d))
				}
				if missing := g.rows - len(rows); missing > 0 {
					text := plural(missing, "difference") + inRefunds(g.class, g.kind)
					if g.currency != "" {
						text += " with a total of " + amount.ForPeople(rest, g.currency) + " " + terminal.Clean(g.currency)
					}
					s.Rest = append(s.Rest, text)
				}
			}
			if s.Count > 0 {
				all = append(all, s)
			}
		}
	}
	return all
}

// earlierRows are rows of earlier months.
type earlierRows struct {
	Rows []row
	Rest string // says how many the page does not show
}

// Changed returns what has changed of months that were compared.
func (v *view) Changed() (c earlierRows) {
	all := v.Summary.Changed
	if len(all) > v.shown.most {
		c.Rest = plural(len(all)-v.shown.most, "row")
		all = all[:v.shown.most]
	}
	for i := range all {
		r := v.row(all[i].Difference)
		r.Month = v.Month(all[i].Since)
		r.Why = r.Why[:len(r.Why)-1] // the columns say it
		r.Effect = terminal.Clean(all[i].Effect())
		for j := range all[i].Was {
			r.Was = append(r.Was, v.gatewayEntry(&all[i].Was[j], ""))
		}
		c.Rows = append(c.Rows, r)
	}
	return c
}

// Earlier returns what was open at the end of earlier months: differences first, then what is still open, then what is settled.
func (v *view) Earlier() (e earlierRows) {
	all := slices.Clone(v.Summary.Earlier)
	weight := func(e *match.Earlier) int {
		switch {
		case e.IsOpen():
			return 1
		case e.Class == "":
			return 2
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b match.Earlier) int { return weight(&a) - weight(&b) })
	if len(all) > v.shown.most {
		e.Rest = plural(len(all)-v.shown.most, "row")
		all = all[:v.shown.most]
	}
	for i := range all {
		d := all[i].Difference
		r := v.row(d)
		r.Month = v.Month(d.Since)
		switch {
		case all[i].IsOfPeriod:
			r.Now = "in the differences of this period"
		case d.Class == "":
			r.Now = "settled"
		case all[i].IsOpen():
			r.Now = "still open: " + d.Class.About().Title
		default:
			r.Now = "a difference: " + d.Class.About().Title + ". " + d.Class.About().Action
		}
		e.Rows = append(e.Rows, r)
	}
	return e
}

func (v *view) row(d *match.Difference) row {
	r := row{ID: terminal.Clean(d.ID), Age: ageText(d.Age(v.Now)), None: "none", NoLine: "none"}
	if d.Currency != "" {
		r.Value = amount.ForPeople(d.Value, d.Currency) + " " + terminal.Clean(d.Currency)
	}
	if d.Paid != nil {
		r.Gateway = append(r.Gateway, v.gatewayEntry(d.Paid, "payment "))
	}
	for i := range d.Gateway {
		kind := ""
		if d.Kind == books.Refund {
			kind = "refund "
		}
		r.Gateway = append(r.Gateway, v.gatewayEntry(&d.Gateway[i], kind))
	}
	for i := range d.Books {
		l := &d.Books[i]
		e := entry{Details: "line " + lineNumber(l)}
		if l.Currency != "" {
			e.Money = amount.ForPeople(l.Amount, l.Currency) + " " + terminal.Clean(l.Currency)
			if l.State != books.StateApproved {
				e.Money += ", " + terminal.Clean(l.State)
			}
		}
		if !l.At.IsZero() {
			e.Details += ", " + v.Clock(l.At)
		}
		if l.ID != "" && l.ID != d.ID {
			e.Details += ", " + terminal.Clean(l.ID)
		}
		if l.Order != "" && l.Order != d.ID {
			e.Details += ", order " + terminal.Clean(l.Order)
		}
		r.Books = append(r.Books, e)
	}
	if d.Known {
		r.Why = append(r.Why, "Known: "+terminal.Clean(d.Reason))
	}
	if d.Kind == books.Refund && d.Gateway != nil && (d.Paid != nil || d.Class == match.ClassRefundWithoutOrder) {
		r.NoLine = "not compared" // only compared with its payment
	}
	if d.Class == match.ClassRowUnreadable {
		r.None, r.NoLine = "cannot be read", "not compared"
	}
	switch {
	case d.Class == match.ClassUnreadable: // the reason is about the line
		r.None = "not compared"
		r.Books[0].Details += ": " + terminal.Clean(d.Why)
	case d.Why != "":
		r.Why = append(r.Why, terminal.Clean(d.Why))
	}
	return r
}

func (v *view) gatewayEntry(r *books.Row, kind string) entry {
	money := fmt.Sprintf("%s%s %s, %s", kind, amount.ForPeople(r.Amount, r.Currency), r.Currency, r.State)
	details := named([][2]string{{"", v.Clock(r.At)}, {"", r.UniqueID}, {"of payment ", r.Payment}, {"card ", r.Card}})
	if r.Test && !v.TestPayments {
		details = append(details, "test payment")
	}
	return entry{terminal.Clean(money), terminal.Clean(strings.Join(details, ", "))}
}
