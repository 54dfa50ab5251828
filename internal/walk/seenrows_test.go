package walk

import "testing"

// TestSeenRows follows the ids of a block through reading, reading again, and the next block.
func TestSeenRows(t *testing.T) {
	s := newSeenRows()
	give := func(window span, ids ...uint64) readWindow {
		for _, id := range ids {
			s.remember(id, window.to)
		}
		return readWindow{span: window, ids: ids}
	}
	expect := func(when string, count int, news map[uint64]bool) {
		t.Helper()
		if got := s.count(); got != count {
			t.Errorf("%s: counts %d rows, want %d", when, got, count)
		}
		for id, want := range news {
			if s.isNew(id) != want {
				t.Errorf("%s: row %d is new: %t", when, id, !want)
			}
		}
	}
	expect("at first", 0, map[uint64]bool{1: true})

	s.add(give(span{0, 10}, 1, 2, 3))
	s.add(give(span{10, 20}, 3, 4)) // 3 is in the overlap
	expect("two windows", 4, map[uint64]bool{1: false, 3: false, 4: false, 5: true})
	if a, b, both := s.distinct(0, 1), s.distinct(1, 2), s.distinct(0, 2); a != 3 || b != 2 || both != 4 {
		t.Errorf("distinct: %d, %d, %d together", a, b, both)
	}

	s.replace(0, []readWindow{{span: span{0, 5}, ids: []uint64{1}}, {span: span{5, 10}, ids: []uint64{3, 6}}})
	expect("the first read anew, without 2 and with 6", 4, map[uint64]bool{2: false, 6: false, 7: true})

	s.endBlock(15)
	// 4 is kept until 20, because a query from 15 on can return it, and 2, because it may have moved. Another row with the id of 1 is no repetition.
	expect("next block", 0, map[uint64]bool{4: false, 2: false, 1: true, 7: true})
	s.endBlock(40)
	expect("the block after", 0, map[uint64]bool{4: true, 2: true, 1: true})
}

// TestSeenRowsRestored begins in the middle of a block, where a checkpoint ended.
func TestSeenRowsRestored(t *testing.T) {
	s := newSeenRows()
	s.restore(span{0, 10}, 5, []uint64{8, 9})
	if s.count() != 5 || s.isNew(8) || !s.isNew(1) {
		t.Errorf("restored: %d rows, 8 new %t, 1 new %t", s.count(), s.isNew(8), s.isNew(1))
	}
	s.add(readWindow{span: span{10, 20}, ids: []uint64{9, 10, 11}}) // 9 was counted before the checkpoint
	if s.count() != 7 || s.distinct(0, 2) != 7 || s.distinct(1, 2) != 3 {
		t.Errorf("read on: %d rows, %d distinct, %d in the second window", s.count(), s.distinct(0, 2), s.distinct(1, 2))
	}
	s.replace(0, []readWindow{{span: span{0, 10}, ids: []uint64{1, 2, 3, 8, 9}}})
	if s.count() != 7 {
		t.Errorf("the restored window read anew: %d rows, want 7", s.count())
	}
}
