package faults

import "testing"

// runRefunds runs several mixes of refunds.
func runRefunds(t *testing.T, runs []run) {
	t.Helper()
	if rows := runAll(t, runs); !t.Failed() {
		wantEnds(t, rows, Paid, Absent) // on a slow machine every decline may be absent
		logTable(t, rows, PrintRefunds)
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

// TestRefunds makes refunds with every fault and every behavior of the gateway.
func TestRefunds(t *testing.T) {
	parallel(t)
	refunds := 120
	if long() {
		refunds = 5000
	}
	var runs []run
	for i, b := range RefundBehaviors() {
		m := Mix{Seed: uint64(21 + i), Payments: refunds, Refunds: true, Behavior: b, Proto: Protos()[i]}
		runs = append(runs, run{m, newClientDesign}, run{m, newJournalDesign})
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
		store := openStore(t, spec)
		m := Mix{Seed: 121, Payments: refunds, Refunds: true, Behavior: RefundBehaviors()[0]}
		runRefunds(t, []run{{m, JournalOver(t.Name(), store)}})
	})
}

// TestRefundPeers makes the same refunds with commonly used alternatives.
func TestRefundPeers(t *testing.T) {
	parallel(t)
	peersFail(t, Mix{Seed: 21, Payments: 200, Refunds: true, Behavior: RefundBehaviors()[0]}, PrintRefunds)
}

// TestEveryRefundFault makes refunds with one fault at a time.
func TestEveryRefundFault(t *testing.T) {
	parallel(t)
	var runs []run
	for _, fault := range PaymentFaults() {
		runs = append(runs, run{Mix{Seed: 7, Payments: 6, Refunds: true, Behavior: RefundBehaviors()[0], Only: &fault}, newClientDesign})
	}
	runRefunds(t, runs)
}
