package walk

import "testing"

// TestPageSize simulates windows with the pages that a gateway returns.
func TestPageSize(t *testing.T) {
	type response struct {
		refused       bool
		granted, most int
		guessed       bool
	}
	tests := []struct {
		name             string
		asked, split     int // by the caller
		responses        []response
		size, granted    int
		capacity         int
		refusedAtTheLast bool // and there is no smaller size left
	}{
		{name: "free", size: 999, granted: 999, capacity: 999},
		{name: "the caller's", asked: 50, size: 50, granted: 50, capacity: 50},
		{name: "paged above it", asked: 50, split: 400, size: 50, granted: 50, capacity: 400},
		{name: "granted", responses: []response{{granted: 999, most: 999}}, size: 999, granted: 999, capacity: 999},
		{name: "clamped", responses: []response{{granted: 200, most: 200}}, size: 999, granted: 200, capacity: 200},
		{name: "refused once", responses: []response{{refused: true}}, size: 100, granted: 100, capacity: 100},
		{name: "refused twice", responses: []response{{refused: true}, {refused: true}}, size: 10, granted: 10, capacity: 10},
		{
			name: "always refused", responses: []response{{refused: true}, {refused: true}, {refused: true}}, size: 10, granted: 10, capacity: 10,
			refusedAtTheLast: true,
		},
		{name: "the caller's refused", asked: 50, responses: []response{{refused: true}}, size: 50, granted: 50, capacity: 50, refusedAtTheLast: true},
		{
			name: "refused after it was granted", responses: []response{{granted: 999, most: 10}, {refused: true}}, size: 999, granted: 999, capacity: 999,
			refusedAtTheLast: true,
		},
		{name: "one short page", responses: []response{{granted: 30, most: 30, guessed: true}}, size: 999, granted: 999, capacity: 999},
		{
			name: "two pages short alike", responses: []response{{granted: 30, most: 30, guessed: true}, {granted: 30, most: 30, guessed: true}}, size: 999,
			granted: 30, capacity: 30,
		},
		{
			name: "two pages short otherwise", responses: []response{{granted: 30, most: 30, guessed: true}, {granted: 31, most: 31, guessed: true}},
			size: 999, granted: 999, capacity: 999,
		},
		{name: "more than was thought", responses: []response{{granted: 30, most: 30}, {granted: 30, most: 80}}, size: 999, granted: 80, capacity: 80},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPageSize(tt.asked, maxPageSize, tt.split)
			smaller := true
			for _, r := range tt.responses {
				if r.refused {
					smaller = p.shrink()
				} else {
					p.learn(r.granted, r.guessed, r.most)
				}
			}
			if p.size != tt.size || p.granted != tt.granted || p.capacity() != tt.capacity || smaller == tt.refusedAtTheLast {
				t.Errorf("asks for %d, gets %d, fits %d, refused at the last %t; want %d, %d, %d, %t",
					p.size, p.granted, p.capacity(), !smaller, tt.size, tt.granted, tt.capacity, tt.refusedAtTheLast)
			}
		})
	}
}

// TestPageSizeRestart: a shorter range is queried with the first size again, unless another one was accepted.
func TestPageSizeRestart(t *testing.T) {
	p := newPageSize(0, maxPageSize, 0)
	p.shrink()
	if p.restart(); p.size != 999 {
		t.Errorf("asks for %d, want 999", p.size)
	}
	p.shrink()
	p.learn(100, false, 100)
	if p.restart(); p.size != 100 {
		t.Errorf("asks for %d after 100 was accepted", p.size)
	}
}
