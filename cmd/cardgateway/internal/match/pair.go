package match

import (
	"slices"

	"github.com/shopspring/decimal"
)

// pair is all that both sides have of one id.
type pair struct {
	rows   []Row
	lines  []Line
	paid   []Row  // those rows that are approved
	row    *Row   // the one that counts: approved, else in processing, else the last; nil if there is none
	booked string // the state of the lines; empty if there is none
	sum    decimal.Decimal
}

func newPair(rows []Row, lines []Line) *pair {
	p := &pair{rows: rows, lines: lines}
	for i := range rows {
		if rows[i].State == approved {
			p.paid = append(p.paid, rows[i])
		}
		if p.row == nil || weight(rows[i].State) >= weight(p.row.State) {
			p.row = &rows[i]
		}
	}
	for i := range lines {
		if p.booked == "" || weight(lines[i].State) > weight(p.booked) {
			p.booked = lines[i].State
		}
	}
	for i := range lines {
		if lines[i].State == p.booked {
			p.sum = p.sum.Add(lines[i].Amount)
		}
	}
	return p
}

func (p *pair) id() string {
	if len(p.lines) > 0 {
		return p.lines[0].ID
	}
	if id := p.rows[0].ID; id != "" {
		return id
	}
	return p.rows[0].UniqueID
}

// currenciesDiffer compares what counts of the gateway with the lines. A gateway need not give the amount of what was declined.
func (p *pair) currenciesDiffer() bool {
	currency := p.row.Currency
	return currency != "" && (slices.ContainsFunc(p.lines, func(l Line) bool { return l.Currency != currency }) ||
		slices.ContainsFunc(p.paid, func(r Row) bool { return r.Currency != currency }))
}

// atGateway is the amount that the gateway has in the currency of the row that counts: all that is approved, or of that row.
func (p *pair) atGateway() decimal.Decimal {
	if len(p.paid) == 0 {
		return p.row.Amount
	}
	return sumOf(p.paid, p.row.Currency)
}

// sumOf adds up the rows in one currency.
func sumOf(rows []Row, currency string) (sum decimal.Decimal) {
	for i := range rows {
		if rows[i].Currency == currency {
			sum = sum.Add(rows[i].Amount)
		}
	}
	return sum
}

// weight orders states: what is paid counts before what may be, and that before what is not.
func weight(state string) int {
	switch state {
	case approved:
		return 2
	case declined:
		return 0
	}
	return 1
}

func isApproved(r Row) bool { return r.State == approved }
