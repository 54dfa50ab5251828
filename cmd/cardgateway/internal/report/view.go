package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/match"
)

// view is the page in words.
type view struct {
	*Page
	Title, Range    string
	Verdict, Result string // a word for the style, and the headline
	Sentences       []string
	Bridges         []bridge
	Facts           []fact
	Classes         []classRow
	Ages            []string
	Sections        []section
	Charts          []charts
	Sign            bool
}

type fact struct{ Term, Text string }

// bridge is the way from the books to the gateway in one currency.
type bridge struct {
	Kind, Currency string
	Rows           []bridgeRow
	LeftOver       string
	IsOpen         bool // something is left over
}

type bridgeRow struct {
	Label, Count, Sum string
	IsTotal           bool
}

// classRow is one class in the table of all of them.
type classRow struct {
	match.About
	Rows   string
	Values []string
	Oldest string
	Ages   []string
	Known  string
	IsNone bool
	HasRow bool // a section shows rows of it
}

// section is the rows of one class.
type section struct {
	match.About
	Anchor  string
	IsKnown bool
	Count   string
	Rows    []row
	Rest    []string // what the page does not show
}

type row struct {
	ID, Value, Age string
	Gateway, Books []entry
	None, NoLine   string // in place of Gateway and of Books
	Why            []string
}

// entry is what one side has.
type entry struct{ Money, Details string }

// charts are those of one currency.
type charts struct {
	Currency string
	Says     string
	Charts   []chart
}

func newView(p *Page) *view {
	if p.Text == nil {
		p.Text = func(s string) string { return s }
	}
	v := &view{Page: p, Range: p.rangeText(), Ages: []string{"0 to 2 days", "3 to 7", "8 to 30", "over 30"}}
	v.Title = "Reconciliation, " + v.Range
	v.verdict()
	v.bridges()
	v.facts()
	v.sections()
	v.classes()
	v.charts()
	return v
}

// rangeText names the period as people do.
func (p *Page) rangeText() string {
	from, to := p.Period.From, p.Period.To.In(p.Period.From.Location())
	isMidnight := func(t time.Time) bool {
		return t.Equal(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location()))
	}
	switch {
	case !isMidnight(from) || !isMidnight(to):
		return p.clock(from) + " to " + p.clock(to)
	case from.Day() == 1 && from.AddDate(0, 1, 0).Equal(to):
		return from.Format("January 2006")
	case from.Day() == 1 && from.Month() == 1 && from.AddDate(1, 0, 0).Equal(to):
		return from.Format("2006")
	case from.AddDate(0, 0, 1).Equal(to):
		return from.Format("2 January 2006")
	}
	return from.Format("2 January 2006") + " to " + to.AddDate(0, 0, -1).Format("2 January 2006")
}

func (p *Page) clock(t time.Time) string {
	return t.In(p.Period.From.Location()).Format("2006-01-02 15:04:05")
}

func (v *view) verdict() {
	s := v.Summary
	n, waiting, known := s.Differences(), s.Rows(match.Timing), s.Known()
	switch {
	case s.Compared == 0 && n == 0:
		v.Verdict, v.Result = "empty", "Nothing to compare in this range"
		v.Sentences = append(v.Sentences, "Neither the gateway nor your list has a payment from "+v.clock(v.Period.From)+" to "+v.clock(v.Period.To)+".")
		v.Sentences = append(v.Sentences, v.Nearest...)
	case n == 0:
		v.Verdict, v.Result = "fine", fmt.Sprintf("%s of %s rows tie out", count(s.TiedOut), count(s.Compared))
		v.Sentences = append(v.Sentences, "No difference was found.")
		v.Sign = true
	default:
		v.Verdict, v.Result = "differs", plural(n, "difference")
		v.Sentences = append(v.Sentences, fmt.Sprintf("%s of %s rows tie out.", count(s.TiedOut), count(s.Compared)))
	}
	if waiting > 0 {
		v.Sentences = append(v.Sentences, fmt.Sprintf("%s to carry forward: in processing, or near the edge of what is compared.", plural(waiting, "row")))
	}
	if known > 0 {
		v.Sentences = append(v.Sentences, plural(known, "known difference")+", marked with a reason and counted apart.")
	}
}

func (v *view) bridges() {
	kinds := map[match.Kind]string{match.Payment: "Payments", match.Refund: "Refunds"}
	bridges := slices.Clone(v.Summary.Bridges)
	slices.SortStableFunc(bridges, func(a, b match.Bridge) int { return cmp.Compare(a.Currency, b.Currency) })
	for i := range bridges {
		b := &bridges[i]
		currency := cmp.Or(b.Currency, "no currency")
		shown := bridge{Kind: kinds[b.Kind], Currency: v.Text(currency)}
		shown.Rows = append(shown.Rows, bridgeRow{Label: "Your books", Sum: amount.ForPeople(b.Books, b.Currency), IsTotal: true})
		for _, step := range b.Steps {
			label := about(step.Class).Title
			if step.Known {
				label = "Known: " + label
			}
			shown.Rows = append(shown.Rows, bridgeRow{Label: label, Count: count(step.Rows), Sum: signed(step.Sum, b.Currency)})
		}
		shown.Rows = append(shown.Rows, bridgeRow{Label: "Gateway", Sum: amount.ForPeople(b.Gateway, b.Currency), IsTotal: true})
		left := b.LeftOver()
		shown.LeftOver, shown.IsOpen = amount.ForPeople(left, b.Currency), !left.IsZero()
		v.Bridges = append(v.Bridges, shown)
	}
}

func (v *view) facts() {
	add := func(term, format string, args ...any) {
		v.Facts = append(v.Facts, fact{term, v.Text(fmt.Sprintf(format, args...))})
	}
	zone, offset := v.Period.From.Zone()
	if !strings.HasPrefix(zone, "UTC") && zone != v.Period.From.Format("-07") {
		zone += " (UTC" + v.Period.From.Format("-07:00") + ")"
	} else if offset != 0 {
		zone = "UTC" + v.Period.From.Format("-07:00")
	}
	add("Period", "%s to %s, the end not in it; all times here are %s", v.clock(v.Period.From), v.clock(v.Period.To), zone)
	add("Compared", "%s", v.clock(v.Now))
	if v.Gateway != "" {
		add("Gateway", "%s, app %s", v.Gateway, v.AppID)
	}
	read := ""
	if !v.LastSync.IsZero() {
		read = ", read last " + v.clock(v.LastSync)
	}
	add("Copy of the gateway", "whole from %s to %s%s", v.clock(v.Copy.From), v.clock(v.Copy.To), read)
	for _, list := range []struct {
		term string
		books.ListInfo
	}{{"List of payments", v.Payments}, {"List of refunds", v.Refunds}} {
		if list.ReadAt.IsZero() {
			add(list.term, "none was read")
			continue
		}
		add(list.term, "%s, %s, %s not readable, read %s, SHA-256 %s", list.Name, plural(list.ListInfo.Rows, "line"), count(list.Unreadable),
			v.clock(list.ReadAt), list.SHA256)
	}
	if v.Summary.Elsewhere > 0 {
		add("Lines of other periods", "%s, not compared", count(v.Summary.Elsewhere))
	}
	add("Near an edge", "within %s", strings.TrimSuffix(v.Grace.String(), "0m0s"))
	if v.Known != "" {
		text := fmt.Sprintf("%s, %s used", v.Known, plural(v.Summary.Known(), "mark"))
		if n := len(v.Summary.Unused); n > 0 {
			text += fmt.Sprintf("; %s fit nothing any more, the first in line %d", plural(n, "mark"), v.Summary.Unused[0].Line)
		}
		add("Known differences", "%s", text)
	}
	if v.Command != "" {
		v.Facts = append(v.Facts, fact{"To make this page again", v.Text(v.Command)})
	}
}

func (v *view) classes() {
	zone := v.Period.From.Location()
	for _, a := range match.Classes {
		row := classRow{About: a, Ages: []string{"", "", "", ""}}
		rows, known := 0, 0
		var ages [4]int
		var oldest time.Time
		for _, c := range v.Summary.Classes {
			if c.Class != a.Class {
				continue
			}
			rows += c.Rows
			known += c.Known
			if c.Rows > 0 && c.Currency != "" {
				row.Values = append(row.Values, amount.ForPeople(c.Value, c.Currency)+" "+v.Text(c.Currency))
			}
			for i := range ages {
				ages[i] += c.ByAge[i]
			}
			if oldest.IsZero() || !c.Oldest.IsZero() && c.Oldest.Before(oldest) {
				oldest = c.Oldest
			}
		}
		row.Rows, row.IsNone = count(rows), rows == 0
		if known > 0 {
			row.Known = count(known)
		}
		if !oldest.IsZero() {
			row.Oldest = oldest.In(zone).Format(time.DateOnly)
		}
		for i, n := range ages {
			if n > 0 {
				row.Ages[i] = count(n)
			}
		}
		row.HasRow = slices.ContainsFunc(v.Sections, func(s section) bool { return s.Class == a.Class && !s.IsKnown })
		v.Classes = append(v.Classes, row)
	}
}

func (v *view) sections() {
	parts := v.Rows.share()
	for _, known := range []bool{false, true} {
		for _, a := range match.Classes {
			s := section{About: a, Anchor: string(a.Class), IsKnown: known}
			if known {
				s.Anchor = "known-" + s.Anchor
			}
			n := 0
			groups := slices.DeleteFunc(slices.Clone(v.Rows.groups), func(g *group) bool { return g.class != a.Class || g.known != known })
			slices.SortFunc(groups, func(x, y *group) int { return cmp.Compare(x.currency, y.currency) })
			for _, g := range groups {
				n += g.rows
				rows, rest := g.shown(parts[g])
				for _, d := range rows {
					s.Rows = append(s.Rows, v.row(d))
				}
				if missing := g.rows - len(rows); missing > 0 {
					text := plural(missing, "row")
					if g.currency != "" {
						text += " of " + amount.ForPeople(rest, g.currency) + " " + v.Text(g.currency)
					}
					s.Rest = append(s.Rest, text)
				}
			}
			if n > 0 {
				s.Count = count(n)
				v.Sections = append(v.Sections, s)
			}
		}
	}
}

func (v *view) row(d *match.Difference) row {
	r := row{ID: v.Text(d.ID), Age: ageText(d.Age(v.Now)), None: "nothing", NoLine: "nothing"}
	if d.Currency != "" {
		r.Value = amount.ForPeople(d.Value, d.Currency) + " " + v.Text(d.Currency)
	}
	if d.Paid != nil {
		r.Gateway = append(r.Gateway, v.gatewayEntry(d.Paid, "payment "))
	}
	for i := range d.Gateway {
		kind := ""
		if d.Kind == match.Refund {
			kind = "refund "
		}
		r.Gateway = append(r.Gateway, v.gatewayEntry(&d.Gateway[i], kind))
	}
	for i := range d.Books {
		l := &d.Books[i]
		e := entry{Details: fmt.Sprintf("line %d", l.Line)}
		if l.Currency != "" {
			e.Money = amount.ForPeople(l.Amount, l.Currency) + " " + v.Text(l.Currency)
			if l.State != "approved" {
				e.Money += ", " + v.Text(l.State)
			}
		}
		if !l.At.IsZero() {
			e.Details += ", " + v.clock(l.At)
		}
		if l.ID != "" && l.ID != d.ID {
			e.Details += ", " + v.Text(l.ID)
		}
		r.Books = append(r.Books, e)
	}
	if d.Known {
		r.Why = append(r.Why, "Known: "+v.Text(d.Reason))
	}
	if d.Kind == match.Refund && d.Gateway != nil && (d.Paid != nil || d.Class == match.RefundWithoutOrder) {
		r.NoLine = "not looked at" // it was held against its payment
	}
	switch {
	case d.Class == match.Unreadable: // it is about the line
		r.None = "not compared"
		r.Books[0].Details += ": " + v.Text(d.Why)
	case d.Why != "":
		r.Why = append(r.Why, v.Text(d.Why))
	}
	return r
}

func (v *view) gatewayEntry(r *match.Row, kind string) entry {
	e := entry{Money: fmt.Sprintf("%s%s %s, %s", kind, amount.ForPeople(r.Amount, r.Currency), v.Text(r.Currency), v.Text(r.State))}
	var details []string
	if !r.At.IsZero() {
		details = append(details, v.clock(r.At))
	}
	if r.UniqueID != "" {
		details = append(details, v.Text(r.UniqueID))
	}
	if r.Payment != "" {
		details = append(details, "of payment "+v.Text(r.Payment))
	}
	if r.Card != "" {
		details = append(details, "card "+v.Text(r.Card))
	}
	e.Details = strings.Join(details, ", ")
	return e
}

func (v *view) charts() {
	for _, currency := range v.Days.names() {
		bars, starts, unit := v.Days.series(currency)
		of := func(f func(*dayOf) float64) (all []float64) {
			for i := range bars {
				all = append(all, f(&bars[i]))
			}
			return all
		}
		var total dayOf
		for i := range bars {
			total.approved += bars[i].approved
			total.declined += bars[i].declined
			total.value = total.value.Add(bars[i].value)
			total.refunded = total.refunded.Add(bars[i].refunded)
		}
		rate := acceptance(&total)
		c := charts{Currency: v.Text(currency), Says: fmt.Sprintf("%s %s in %s; acceptance %s; refunded %s %s.",
			amount.ForPeople(total.value, currency), v.Text(currency), plural(total.approved, "payment"), percentText(rate), amount.ForPeople(total.refunded, currency), v.Text(currency))}
		inUnits := func(f float64) string { return short(f) }
		c.Charts = []chart{
			newChart("Value a "+unit, "value", of(func(d *dayOf) float64 { return d.value.InexactFloat64() }), starts, false, 0, inUnits),
			newChart("Payments a "+unit, "volume", of(func(d *dayOf) float64 { return float64(d.approved) }), starts, false, 0, inUnits),
			newChart("Acceptance rate", "rate", of(acceptance), starts, true, 1, percentText),
			newChart("Refunded a "+unit, "refunds", of(func(d *dayOf) float64 { return d.refunded.InexactFloat64() }), starts, false, 0, inUnits),
		}
		for i := range c.Charts {
			c.Charts[i].Says = fmt.Sprintf("%s, %s, %s", c.Charts[i].Title, c.Currency, v.Range)
		}
		v.Charts = append(v.Charts, c)
	}
}

// acceptance is the part of the payments that was approved, of those that are at their end.
func acceptance(d *dayOf) float64 {
	if d.approved+d.declined == 0 {
		return math.NaN()
	}
	return float64(d.approved) / float64(d.approved+d.declined)
}

func percentText(part float64) string {
	if math.IsNaN(part) {
		return "unknown"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*part), ".0") + "%"
}

// short writes a number of an axis.
func short(f float64) string {
	for _, unit := range []struct {
		above float64
		name  string
	}{{1e9, "bn"}, {1e6, "m"}, {1e4, "k"}} {
		if f >= unit.above {
			by := unit.above
			if unit.name == "k" {
				by = 1e3
			}
			return strings.TrimSuffix(fmt.Sprintf("%.1f", f/by), ".0") + " " + unit.name
		}
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0")
}

func about(c match.Class) match.About {
	i := slices.IndexFunc(match.Classes, func(a match.About) bool { return a.Class == c })
	return match.Classes[i]
}

func signed(d decimal.Decimal, currency string) string {
	if d.IsPositive() {
		return "+" + amount.ForPeople(d, currency)
	}
	return amount.ForPeople(d, currency)
}

func count(n int) string { return amount.ForPeople(decimal.NewFromInt(int64(n)), "JPY") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}

func ageText(age time.Duration) string {
	if age < 0 {
		return "unknown"
	}
	return plural(int(age/(24*time.Hour)), "day")
}
