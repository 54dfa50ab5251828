package match

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/shopspring/decimal"
)

// paidTwice finds orders of the merchant with several successful payments, and adds them to the findings: those of the list, and of the lines that
// are kept of the month before.
func (k *kindMatcher) paidTwice() error {
	all := k.books.OrderLines(k.ctx, k.endsAt(k.Month.From).From)
	for same, err := range groups("orders of the list", all, func(l *books.OrderLine) string { return l.Line.Order }) {
		if err != nil {
			return err
		}
		var lines []books.Line
		var totals []decimal.Decimal // of the order, as the lines state it: usually equal
		var rows []books.Row         // the successful payments, oldest first
		for i := range same {
			if l := &same[i].Line; len(lines) == 0 || l.Line != lines[len(lines)-1].Line {
				isAgain := func(e books.Line) bool { return e.Line < 0 && l.Line > 0 && e.ID == l.ID } // this list counts, if it has the id
				lines = append(slices.DeleteFunc(lines, isAgain), *l)
				if total := same[i].Total; total.Valid && !slices.ContainsFunc(totals, total.Decimal.Equal) {
					totals = append(totals, total.Decimal)
				}
			}
			// A payment is reported with one order only, but a known difference hides only itself.
			paid := &same[i].Paid
			k.asCompared(paid)
			isTest := paid.Test && !k.TestPayments // no money moved
			if of := k.findings[paid.ID]; paid.ID != "" && isApproved(*paid) && !isTest && (of.class != ClassPaidTwice || of.known) {
				rows = append(rows, *paid)
			}
		}
		for i := range lines {
			if l := &lines[i]; l.Line < 0 {
				l.Line, l.Earlier = -l.Line, true
			}
		}
		order := func(a, b books.Row) int { return cmp.Or(byTime(a, b), strings.Compare(a.ID, b.ID)) }
		slices.SortFunc(rows, order)
		rows = slices.CompactFunc(rows, func(a, b books.Row) bool { return order(a, b) == 0 }) // it may be in several lines
		isOther := func(r books.Row) bool { return r.ID != rows[0].ID }
		if !slices.ContainsFunc(rows, isOther) || !slices.ContainsFunc(rows, func(r books.Row) bool { return k.isOurs(&r) }) {
			continue
		}
		currency := rows[0].Currency
		if !slices.ContainsFunc(rows[1:], func(r books.Row) bool { return r.Currency == currency }) { // the value is of the later payments
			currency = rows[1].Currency
		}
		d := &Difference{
			Class: ClassPaidTwice, Kind: books.Payment, ID: lines[0].Order, Currency: currency, Value: sumOf(rows[1:], currency), At: rows[1].At,
			Gateway: rows, Books: lines,
		}
		hasOneCurrency := !slices.ContainsFunc(rows, func(r books.Row) bool { return r.Currency != currency })
		switch {
		case len(totals) > 1:
			d.Why = "the lines of this order state different totals, so they were not used"
		case len(totals) == 1 && hasOneCurrency:
			excess := sumOf(rows, currency).Sub(totals[0])
			if !excess.IsPositive() { // it is paid in parts
				continue
			}
			d.Value, d.Why = excess, "more than the total of the order, "+totals[0].String()+" "+currency
		}
		if err := k.sayRefunds(d, rows); err != nil {
			return err
		}
		found, err := k.found(d)
		if err != nil {
			return err
		}
		for i := range rows {
			k.findings.add(rows[i].ID, found)
		}
	}
	return nil
}

// sayRefunds adds to a difference of several payments, of which all but one are usually refunded, what of them is refunded already: otherwise the
// other one would be refunded, too.
func (k *kindMatcher) sayRefunds(d *Difference, paid []books.Row) error {
	if !slices.Contains([]Class{ClassPaidTwice, ClassTwoSuccesses, ClassLaterCharge}, d.Class) {
		return nil
	}
	var back totals
	for i := range paid {
		for r, err := range k.books.RefundsBy(k.ctx, paid[i].UniqueID) {
			if err != nil {
				return err
			}
			back.add(r.Currency, r.Amount)
		}
	}
	for _, of := range back {
		d.Why = strings.TrimPrefix(d.Why+"; refunded already: "+amount.Text(of.sum, of.currency)+" "+of.currency, "; ")
	}
	return nil
}

// parents compares refunds with their payments, and adds the differences to the findings. It reads every refund of the copy,
// because refunds of other periods count towards the total of a payment.
func (k *kindMatcher) parents() error {
	all := k.books.RefundsOf(k.ctx, k.Copy.From, k.Copy.To)
	for same, err := range groups("refunds of the gateway", all, func(r *books.RefundOf) string { return r.Refund.Payment }) {
		if err != nil {
			return err
		}
		refunds := make([]books.Row, len(same))
		for i := range same {
			refunds[i] = same[i].Refund
			k.asCompared(&refunds[i])
		}
		if paid := &same[0].Payment; paid.Test {
			k.testPayments[paid.UniqueID] = true
		}
		if !slices.ContainsFunc(refunds, k.counts) {
			continue
		}
		var payment *books.Row
		if found := same[0].Payment; found.UniqueID != "" {
			payment = &found
		}
		if err := k.compareRefunds(payment, refunds); err != nil {
			return err
		}
	}
	return nil
}

// counts reports whether a refund counts in the period, and is not declined.
func (k *kindMatcher) counts(r books.Row) bool { return k.isOurs(&r) && r.State != books.StateDeclined }

// compareRefunds compares the refunds of one payment with it. A nil payment means that it is not in the copy.
func (k *kindMatcher) compareRefunds(payment *books.Row, refunds []books.Row) error {
	report := func(d *Difference, rows []books.Row) error {
		d.Kind, d.Gateway, d.Paid = books.Refund, rows, payment
		found, err := k.found(d)
		for i := range rows {
			k.findings.add(rows[i].ID, found)
		}
		return err
	}
	var back []books.Row // the approved refunds, in the currency of the payment
	for i := range refunds {
		r := refunds[i : i+1 : i+1]
		counts := k.counts(r[0])
		if counts && !k.Refunds.Read {
			k.summary.RefundsLeftOut++
		}
		if counts && k.inPeriod(r[0].At) {
			k.EachRow(books.Refund, &r[0])
		}
		d := &Difference{ID: r[0].ID, Currency: r[0].Currency, Value: r[0].Amount, At: r[0].At}
		switch {
		case payment == nil && counts:
			d.Class = ClassRefundWithoutOrder
			d.Why = "the payment is not in the copy of the gateway, which begins at " + k.Clock(k.Copy.From)
		case payment == nil || r[0].State != books.StateApproved:
			continue
		case r[0].Currency != "" && payment.Currency != "" && r[0].Currency != payment.Currency:
			if !counts {
				continue
			}
			d.Class, d.Why = ClassCurrency, "the payment was in "+payment.Currency
		default:
			back = append(back, r[0])
			continue
		}
		if err := report(d, r); err != nil {
			return err
		}
	}
	if payment == nil || !slices.ContainsFunc(back, k.counts) {
		return nil
	}
	paid, sum := payment.Amount, sumOf(back, back[0].Currency)
	if payment.State != books.StateApproved {
		paid = decimal.Zero
	}
	if !sum.GreaterThan(paid) {
		return nil
	}
	return report(&Difference{
		Class: ClassRefundAbovePayment, ID: payment.ID, Currency: back[0].Currency, Value: sum.Sub(paid), At: back[len(back)-1].At,
	}, back)
}
