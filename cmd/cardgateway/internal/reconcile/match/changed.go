package match

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/shopspring/decimal"
)

// Changed is a payment or a refund that the gateway has changed since its month was compared. Since is the month; Gateway are its rows now.
type Changed struct {
	*Difference
	Was     []books.Row // at the comparison
	effects totals      // on the gateway's total of the month
}

// ChangedTotal is the gateway's total of a month that was compared: then, and with the changes since.
type ChangedTotal struct {
	Kind     books.Kind
	Month    time.Time
	Currency string
	Was, Now decimal.Decimal
}

// changeKey is an id in a month that was compared.
type changeKey struct {
	month time.Time
	id    string
}

// readChanges finds what has changed of the months that were compared. What was not final then is told as open from an earlier month, and
// counts in the month in which it became final.
func (k *kindMatcher) readChanges() error {
	k.changed = map[changeKey]*Changed{}
	if len(k.months) == 0 {
		return nil
	}
	oldest := slices.MinFunc(k.months, func(a, b books.Month) int { return cmp.Compare(a.Seen, b.Seen) }).Seen
	for changes, err := range k.books.ChangesSince(k.ctx, k.kind, oldest) {
		if err != nil {
			return err
		}
		now, err := changes.Now()
		if err != nil {
			return err
		}
		for i := range k.months {
			if err := k.changeOf(&k.months[i], changes, now); err != nil {
				return err
			}
		}
	}
	for key, c := range k.changed {
		if isSame(c.Was, c.Gateway) { // the gateway has given the row an id
			delete(k.changed, key)
		}
	}
	return nil
}

// changeOf notes what has changed of a row in a month.
func (k *kindMatcher) changeOf(month *books.Month, changes *books.RowChanges, now *books.Row) error {
	was, err := changes.At(month.Seen)
	if err != nil {
		return err
	}
	var in [2]bool
	for i, r := range []*books.Row{was, now} {
		if r == nil || r.State != books.StateApproved {
			continue
		}
		home, err := k.homeOf(r, changes)
		if err != nil {
			return err
		}
		in[i] = home.Equal(month.From)
	}
	if !in[0] && !in[1] || was != nil && now != nil && isSame([]books.Row{*was}, []books.Row{*now}) {
		return nil
	}
	row := now
	if row == nil || !in[1] && in[0] {
		row = was
	}
	key := changeKey{month.From, row.ID}
	c := k.changed[key]
	if c == nil {
		c = &Changed{Difference: &Difference{Class: ClassChanged, Kind: k.kind, ID: key.id, At: row.At, Since: month.From}}
		k.changed[key] = c
	}
	if was != nil {
		c.Was = append(c.Was, *was)
	}
	if now != nil {
		c.Gateway = append(c.Gateway, *now)
	}
	if in[0] {
		c.effects.add(was.Currency, was.Amount.Neg())
	}
	if in[1] {
		c.effects.add(now.Currency, now.Amount)
	}
	return nil
}

// homeOf returns the start of the compared month in which an approved row counts: that of its time or, if it was not final then, the one in
// which it became final. It is zero if there is none.
func (k *kindMatcher) homeOf(r *books.Row, changes *books.RowChanges) (time.Time, error) {
	month := k.month(func(m books.Month) bool { return Span{m.From, m.To}.holds(k.countedAt(r)) })
	if month.From.IsZero() {
		return time.Time{}, nil
	}
	was, err := changes.At(month.Seen)
	if err != nil || was != nil && was.IsFinal() {
		return month.From, err
	}
	if was != nil {
		r = was
	}
	items, err := k.books.KeptItems(k.ctx, k.kind, r.ID)
	if item := items[month.From.Unix()]; ofRow(item.Rows, r) != "" {
		return item.Closed, err
	}
	return month.From, err
}

// isSame reports whether rows are the same but for the gateway's ids and their order.
func isSame(a, b []books.Row) bool {
	texts := func(rows []books.Row) (all []string) {
		for i := range rows {
			r := &rows[i]
			all = append(all, fmt.Sprintf("%q %q %s %s %s %d %t", r.ID, r.Payment, r.State, r.Amount, r.Currency, r.At.UnixMicro(), r.Test))
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(texts(a), texts(b))
}

// tellChanges reports what has changed of other months than this one, which is compared anew.
func (k *kindMatcher) tellChanges() error {
	all := slices.SortedFunc(maps.Values(k.changed), func(a, b *Changed) int { return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID)) })
	for _, c := range all {
		for _, e := range c.effects {
			if c.Currency == "" || !e.sum.IsZero() {
				c.Currency, c.Value = e.currency, e.sum
			}
		}
		c.Why = "it was " + describe(c.Was) + ", and is " + describe(c.Gateway) + ": the gateway's total of " + c.Since.Format("January 2006") +
			" changes by " + c.Effect()
		k.summary.changeTotals(k.startsAt(c.Since), c)
		if c.Since.Equal(k.Month.From) {
			k.summary.OwnChanges++
			continue
		}
		c.Known, c.Reason = k.Known.covers(c.Difference)
		k.summary.Changed = append(k.summary.Changed, *c)
		if err := k.Found(c.Difference); err != nil {
			return err
		}
	}
	return nil
}

// changeTotals adds the effects of a change to the total of its month.
func (s *Summary) changeTotals(month books.Month, c *Changed) {
	for _, e := range c.effects {
		at := slices.IndexFunc(s.ChangedTotals, func(t ChangedTotal) bool {
			return t.Kind == c.Kind && t.Month.Equal(c.Since) && t.Currency == e.currency
		})
		if at < 0 {
			at = len(s.ChangedTotals)
			was := month.Totals[e.currency]
			s.ChangedTotals = append(s.ChangedTotals, ChangedTotal{c.Kind, c.Since, e.currency, was, was})
		}
		s.ChangedTotals[at].Now = s.ChangedTotals[at].Now.Add(e.sum)
	}
}

// describe says what the gateway had of a payment or a refund.
func describe(rows []books.Row) string {
	if len(rows) == 0 {
		return "not there"
	}
	var all []string
	for i := range rows {
		r := &rows[i]
		at := "at " + r.At.Format(time.DateTime)
		if r.At.IsZero() {
			at = "without a time"
		}
		text := fmt.Sprintf("%s %s %s %s", amount.Text(r.Amount, r.Currency), r.Currency, r.State, at)
		if r.Test {
			text += ", as a test payment"
		}
		all = append(all, text)
	}
	return strings.Join(all, " and ")
}

// Effect says by how much the gateway's total of the month has changed, by currency.
func (c *Changed) Effect() string {
	var all []string
	for _, e := range c.effects {
		sign := "+"
		if e.sum.IsNegative() {
			sign = ""
		}
		all = append(all, sign+amount.Text(e.sum, e.currency)+" "+e.currency)
	}
	return strings.Join(all, " and ")
}
