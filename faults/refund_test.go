package faults

import (
	"fmt"
	"strings"
	"testing"
)

// refundRun is a mix of refunds with a design.
type refundRun struct {
	RefundMix
	design func(*site) (RefundDesign, error)
}

// runRefunds runs several mixes, as runAll does.
func runRefunds(t *testing.T, runs []refundRun) {
	t.Helper()
	rows := runRows(t, len(runs),
		func(i int) (*Row, error) { return runs[i].Run(runs[i].design) },
		func(i int) string { return fmt.Sprint(runs[i].Seed) })
	if !t.Failed() {
		wantEnds(t, rows, Paid, Absent) // on a slow machine every decline may be absent
		logRefunds(t, rows)
	}
}

// wantEnds fails the test if no refund in any row has one of these verdicts.
func wantEnds(t *testing.T, rows []*Row, ends ...Verdict) {
	t.Helper()
	for _, v := range ends {
		n := 0
		for _, row := range rows {
			n += row.Verdicts[v]
		}
		if n == 0 {
			t.Errorf("no refund came to be %s", v)
		}
	}
}

func logRefunds(t *testing.T, rows []*Row) {
	t.Helper()
	var b strings.Builder
	PrintRefunds(&b, rows)
	t.Log("\n" + b.String())
}

// TestRefunds makes refunds with every fault and every behavior of the gateway.
func TestRefunds(t *testing.T) {
	parallel(t)
	refunds := 120
	if long() {
		refunds = 5000
	}
	var runs []refundRun
	for i, b := range RefundBehaviors() {
		m := RefundMix{Seed: uint64(21 + i), Refunds: refunds, Behavior: b, Proto: RefundProtos()[i]}
		for _, design := range RefundDesigns()[:2] {
			runs = append(runs, refundRun{m, design})
		}
	}
	runRefunds(t, runs)
}

// TestRefundsStores does the same with the journal in each database.
func TestRefundsStores(t *testing.T) {
	parallel(t)
	refunds := 60
	if long() {
		refunds = 5000
	}
	everyStore(t, func(t *testing.T, spec string) {
		store, done, err := OpenStore(spec)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = done() }()
		m := RefundMix{Seed: 121, Refunds: refunds, Behavior: RefundBehaviors()[0]}
		runRefunds(t, []refundRun{{m, RefundsOver(t.Name(), store)}})
	})
}

// TestRefundPeers makes the same refunds with commonly used alternatives. If nothing is refunded twice there, the faults
// have no effect.
func TestRefundPeers(t *testing.T) {
	parallel(t)
	var rows []*Row
	for _, design := range RefundDesigns()[2:] {
		row, err := RefundMix{Seed: 21, Refunds: 200, Behavior: RefundBehaviors()[0]}.Run(design)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
		if row.Twice == 0 {
			t.Errorf("%s paid nothing back twice", row.Design)
		}
	}
	logRefunds(t, rows)
}

// TestEveryRefundFault makes refunds with one fault at a time.
func TestEveryRefundFault(t *testing.T) {
	parallel(t)
	faults := PaymentFaults()
	rows := make([]*Row, len(faults))
	each(len(faults), len(faults), func(i int) {
		row, err := RefundMix{Seed: 7, Refunds: 6, Behavior: RefundBehaviors()[0], Only: &faults[i]}.Run(RefundDesigns()[0])
		if err != nil {
			t.Error(err)
			return
		}
		rows[i] = row
		if row.Broken() > 0 || row.Open() > 0 || row.Posts > int64(row.Payments) {
			t.Errorf("%s: %d broken, %d open, %d posts for %d refunds: %s", faults[i].Name, row.Broken(), row.Open(), row.Posts,
				row.Payments, strings.Join(row.Failures, "; "))
		}
	})
	if !t.Failed() {
		wantEnds(t, rows, Paid, Absent)
		logRefunds(t, rows)
	}
}
