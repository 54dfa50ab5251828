package match

import (
	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
)

// unreadables reports the lines that could not be parsed. Their amounts are unknown. If at least the id could be parsed, the
// gateway's row is shown, and the line is skipped if the row belongs to another period. If no other line has the id, the row does
// not count as missing; otherwise the other lines are compared with it.
func (m *matcher) unreadables(marks map[Kind]marks) error {
	waiting := map[Kind][]books.Unreadable{}
	kinds := map[string]Kind{books.PaymentList: Payment, books.RefundList: Refund}
	for u, err := range m.books.Unreadables(m.ctx) {
		if err != nil {
			return err
		}
		kind := kinds[u.List]
		if waiting[kind] = append(waiting[kind], u); len(waiting[kind]) == batch {
			if err := m.unreadable(kind, waiting[kind], marks[kind]); err != nil {
				return err
			}
			waiting[kind] = nil
		}
	}
	for _, kind := range []Kind{Payment, Refund} {
		if err := m.unreadable(kind, waiting[kind], marks[kind]); err != nil {
			return err
		}
	}
	return nil
}

func (m *matcher) unreadable(kind Kind, lines []books.Unreadable, marks marks) error {
	if len(lines) == 0 {
		return nil
	}
	rows, err := m.rowsOf(kind, lines)
	if err != nil {
		return err
	}
	for i := range lines {
		u := &lines[i]
		d := &Difference{
			Class: Unreadable, Kind: kind, ID: lineName(u.Line), Books: []Line{{Line: u.Line, ID: u.ID}}, Why: unreadableWhy(u), Gateway: rows[u.ID],
		}
		if len(d.Gateway) > 0 {
			row := newPair(d.Gateway, nil).row
			if !m.inPeriod(row.At) {
				m.skip(row.At)
				continue
			}
			d.At = row.At
		}
		marked, err := m.found(d)
		if err != nil {
			return err
		}
		if u.ID != "" {
			marks.add(u.ID, marked)
		}
	}
	return nil
}

// rowsOf returns the gateway's rows, by id, for the lines whose ids could be parsed.
func (m *matcher) rowsOf(kind Kind, lines []books.Unreadable) (map[string][]Row, error) {
	var ids []string
	for i := range lines {
		if lines[i].ID != "" {
			ids = append(ids, lines[i].ID)
		}
	}
	rows := map[string][]Row{}
	if len(ids) == 0 {
		return rows, nil
	}
	find := m.payments(nil).find
	if kind == Refund {
		find = m.refunds(nil).find
	}
	found, err := find(m.ctx, ids)
	for _, row := range found {
		rows[row.ID] = append(rows[row.ID], row)
	}
	return rows, err
}
