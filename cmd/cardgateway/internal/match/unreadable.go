package match

import (
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/books"
)

// unreadables reports the lines that could not be parsed. If at least the id could be, the gateway's row is shown and does not
// count as missing, and the line is skipped if the row belongs to another period.
func (m *matcher) unreadables(marks map[Kind]map[string]mark) error {
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

func (m *matcher) unreadable(kind Kind, lines []books.Unreadable, marks map[string]mark) error {
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
				m.summary.Elsewhere++
				continue
			}
			d.Currency, d.Value, d.At = row.Currency, row.Amount, row.At
		}
		marked, err := m.found(d)
		if err != nil {
			return err
		}
		if u.ID != "" {
			marks[u.ID] = marked
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
