package cardgateway

import "testing"

// TestLedger follows the ids of a month through reading, reading again, and the next month.
func TestLedger(t *testing.T) {
	l := newLedger()
	give := func(core span, ids ...uint64) part {
		for _, id := range ids {
			l.keep(id, core.to)
		}
		return part{core: core, ids: ids}
	}
	expect := func(when string, count int, news map[uint64]bool) {
		t.Helper()
		if got := l.count(); got != count {
			t.Errorf("%s: counts %d rows, want %d", when, got, count)
		}
		for id, want := range news {
			if l.isNew(id) != want {
				t.Errorf("%s: row %d is new: %t", when, id, !want)
			}
		}
	}
	expect("at first", 0, map[uint64]bool{1: true})

	l.note(give(span{0, 10}, 1, 2, 3))
	l.note(give(span{10, 20}, 3, 4)) // 3 stands in the overlap
	expect("two windows", 4, map[uint64]bool{1: false, 3: false, 4: false, 5: true})
	if a, b, both := l.distinct(0, 1), l.distinct(1, 2), l.distinct(0, 2); a != 3 || b != 2 || both != 4 {
		t.Errorf("distinct: %d, %d, %d together", a, b, both)
	}

	l.replace(0, []part{{core: span{0, 5}, ids: []uint64{1}}, {core: span{5, 10}, ids: []uint64{3, 6}}})
	expect("the first read anew, without 2 and with 6", 4, map[uint64]bool{2: false, 6: false, 7: true})

	l.close(15)
	expect("next month", 0, map[uint64]bool{4: false, 1: false, 7: true}) // kept until 20: a query from 15 on can bring them
	l.close(40)
	expect("the month after", 0, map[uint64]bool{4: true, 1: true})
}

// TestLedgerRestored begins in the middle of a month, where a checkpoint ended.
func TestLedgerRestored(t *testing.T) {
	l := newLedger()
	l.restore(span{0, 10}, 5, []uint64{8, 9})
	if l.count() != 5 || l.isNew(8) || !l.isNew(1) {
		t.Errorf("restored: %d rows, 8 new %t, 1 new %t", l.count(), l.isNew(8), l.isNew(1))
	}
	l.note(part{core: span{10, 20}, ids: []uint64{9, 10, 11}}) // 9 was counted before the checkpoint
	if l.count() != 7 || l.distinct(0, 2) != 7 || l.distinct(1, 2) != 3 {
		t.Errorf("read on: %d rows, %d distinct, %d in the second part", l.count(), l.distinct(0, 2), l.distinct(1, 2))
	}
	l.replace(0, []part{{core: span{0, 10}, ids: []uint64{1, 2, 3, 8, 9}}})
	if l.count() != 7 {
		t.Errorf("the restored part read anew: %d rows, want 7", l.count())
	}
}
