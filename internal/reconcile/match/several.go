package match

import (
	"cmp"
	"slices"
)

// paidTwice finds orders of the merchant with several successful payments, and marks the payments.
func (m *matcher) paidTwice(marks marks) error {
	orders := groups("orders of the list", convert(m.books.RepeatedOrders(m.ctx), ofListedPayment), func(l *Line) string { return l.Order })
	for lines, err := range orders {
		if err != nil {
			return err
		}
		ids := make([]string, 0, len(lines))
		for i := range lines {
			of := marks[lines[i].ID] // a payment is reported with one order only, but a known difference hides only itself
			if lines[i].State == approved && (of.class != PaidTwice || of.known) {
				ids = append(ids, lines[i].ID)
			}
		}
		slices.Sort(ids)
		if ids = slices.Compact(ids); lines[0].Order == "" || len(ids) < 2 {
			continue // fewer than two payments
		}
		rows, err := m.paid(ids)
		if err != nil {
			return err
		}
		if !severalIDs(rows) || !slices.ContainsFunc(rows, func(r Row) bool { return m.inPeriod(r.At) }) {
			continue
		}
		currency := rows[0].Currency
		marked, err := m.found(&Difference{
			Class: PaidTwice, Kind: Payment, ID: lines[0].Order, Currency: currency, Value: sumOf(rows[1:], currency), At: rows[1].At,
			Gateway: rows, Books: slices.Clone(lines),
		})
		if err != nil {
			return err
		}
		for i := range rows {
			marks.add(rows[i].ID, marked)
		}
	}
	return nil
}

// paid returns the successful payments with these ids, oldest first.
func (m *matcher) paid(ids []string) (paid []Row, err error) {
	for some := range slices.Chunk(ids, batch) {
		found, err := collect(convert(m.books.OrdersByTransactionID(m.ctx, some...), ofOrder))
		if err != nil {
			return nil, err
		}
		paid = append(paid, slices.DeleteFunc(found, func(r Row) bool { return r.State != approved })...)
	}
	slices.SortFunc(paid, byTime)
	return paid, nil
}

func severalIDs(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.ID != rows[0].ID })
}

// parents compares refunds with their payments, and marks the differences. It reads every refund of the copy, because refunds
// of other periods count towards the total of a payment.
func (m *matcher) parents(marks marks) error {
	var waiting [][]Row // by payment
	refunds := convert(m.books.Refunds(m.ctx, m.Copy.From, m.Copy.To), ofRefundRow)
	for rows, err := range groups("refunds of the gateway", refunds, func(r *Row) string { return r.Payment }) {
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(rows, func(r Row) bool { return m.counts(&r) }) {
			continue
		}
		if waiting = append(waiting, slices.Clone(rows)); len(waiting) == batch {
			if err := m.hold(waiting, marks); err != nil {
				return err
			}
			waiting = waiting[:0]
		}
	}
	return m.hold(waiting, marks)
}

// counts reports whether a refund is in the period and not declined.
func (m *matcher) counts(r *Row) bool { return m.inPeriod(r.At) && r.State != declined }

// hold compares the refunds of several payments with the payments.
func (m *matcher) hold(refunds [][]Row, marks marks) error {
	var ids []string
	for _, rows := range refunds {
		if rows[0].Payment != "" {
			ids = append(ids, rows[0].Payment)
		}
	}
	found := map[string]*Row{}
	if len(ids) > 0 {
		for row, err := range convert(m.books.OrdersByUniqueID(m.ctx, ids...), ofOrder) {
			if err != nil {
				return err
			}
			found[row.UniqueID] = &row
		}
	}
	for _, rows := range refunds {
		if err := m.holdOne(found[rows[0].Payment], rows, marks); err != nil {
			return err
		}
	}
	return nil
}

// holdOne compares the refunds of one payment with it. A nil payment means that it is not in the copy.
func (m *matcher) holdOne(payment *Row, refunds []Row, marks marks) error {
	report := func(d *Difference, rows []Row) error {
		d.Kind, d.Gateway, d.Paid = Refund, rows, payment
		marked, err := m.found(d)
		for i := range rows {
			marks.add(rows[i].ID, marked)
		}
		return err
	}
	m.countRefunds(payment, refunds)
	var back []Row // the approved refunds, in the currency of the payment
	for i := range refunds {
		r := refunds[i : i+1 : i+1]
		d := &Difference{ID: r[0].ID, Currency: r[0].Currency, Value: r[0].Amount, At: r[0].At}
		switch {
		case payment == nil && m.counts(&r[0]):
			d.Class = RefundWithoutOrder
			d.Why = "the payment is not in the copy of the gateway, which begins at " + m.clock(m.Copy.From)
		case payment == nil || r[0].State != approved:
			continue
		case r[0].Currency != "" && payment.Currency != "" && r[0].Currency != payment.Currency:
			if !m.counts(&r[0]) {
				continue
			}
			d.Class, d.Why = Currency, "the payment was in "+payment.Currency
		default:
			back = append(back, r[0])
			continue
		}
		if err := report(d, r); err != nil {
			return err
		}
	}
	if payment == nil || !slices.ContainsFunc(back, func(r Row) bool { return m.counts(&r) }) {
		return nil
	}
	for i := range back {
		back[i].Currency = cmp.Or(back[i].Currency, payment.Currency)
	}
	slices.SortFunc(back, func(a, b Row) int { return a.At.Compare(b.At) })
	paid, sum := payment.Amount, sumOf(back, back[0].Currency)
	if payment.State != approved {
		paid = paid.Sub(paid)
	}
	if !sum.GreaterThan(paid) {
		return nil
	}
	return report(&Difference{
		Class: RefundAbovePayment, ID: cmp.Or(payment.ID, payment.UniqueID), Currency: back[0].Currency, Value: sum.Sub(paid), At: back[len(back)-1].At,
	}, back)
}

// countRefunds passes the refunds of the period to m.Gateway.
func (m *matcher) countRefunds(payment *Row, refunds []Row) {
	for i := range refunds {
		if r := refunds[i]; m.counts(&r) {
			if r.Currency == "" && payment != nil {
				r.Currency = payment.Currency
			}
			m.Gateway(Refund, &r)
		}
	}
}
