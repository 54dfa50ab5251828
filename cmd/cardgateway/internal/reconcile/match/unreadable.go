package match

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
)

// unreadables reports the lines that could not be parsed. Their amounts are unknown. If at least the id could be parsed, the
// gateway's row is shown, and the line is skipped if the row belongs to another period. If no other line has the id, the row does
// not count as missing; otherwise the other lines are compared with it.
func (k *kindMatcher) unreadables() error {
	for same, err := range groups("unreadable lines", k.books.Unreadables(k.ctx, k.kind), func(u *books.Unreadable) int { return u.Line }) {
		if err != nil {
			return err
		}
		if err := k.unreadable(same); err != nil {
			return err
		}
	}
	return nil
}

// unreadRows reports the rows of the gateway that cannot be read: those of the period, and those that may be.
func (k *kindMatcher) unreadRows() error {
	for u, err := range k.books.UnreadRows(k.ctx, k.kind) {
		if err != nil {
			return err
		}
		if u.At.IsZero() && !k.Period.Overlaps(Span{u.From, u.To}) || !k.inPeriod(u.At) {
			continue
		}
		d := &Difference{Class: ClassRowUnreadable, Kind: k.kind, ID: cmp.Or(u.ID, u.UniqueID, "a row from "+k.Clock(u.From)), At: u.At, Why: u.Why}
		if u.At.IsZero() {
			d.Why += "; its time is from " + k.Clock(u.From) + " to " + k.Clock(u.To)
		}
		if u.UniqueID != "" && u.UniqueID != d.ID {
			d.Why += "; the gateway's id is " + u.UniqueID
		}
		found, err := k.found(d)
		if err != nil {
			return err
		}
		k.findings.add(d.ID, found)
	}
	return nil
}

// unreadable reports one line, which is there once for each row that has its id.
func (k *kindMatcher) unreadable(same []books.Unreadable) error {
	u := &same[0]
	d := &Difference{
		Class: ClassUnreadable, Kind: k.kind, ID: fmt.Sprintf("line %d of list %.8s", u.Line, k.list.SHA256), Books: []books.Line{{Line: u.Line, ID: u.ID, Order: u.Order}}, Why: u.Why,
	}
	if u.Column != "" {
		d.Why = "column " + u.Column + ": " + u.Why
	}
	for i := range same {
		if same[i].Row.State != "" {
			d.Gateway = append(d.Gateway, same[i].Row)
		}
	}
	if len(d.Gateway) > 0 {
		slices.SortFunc(d.Gateway, byTime)
		row := newPair(k.kind, d.Gateway, nil).row
		if !k.isOurs(row) {
			k.skip(&books.Line{At: row.At})
			return nil
		}
		d.At = row.At
	}
	found, err := k.found(d)
	if err != nil {
		return err
	}
	if u.ID != "" {
		k.findings.add(u.ID, found)
	}
	return nil
}
