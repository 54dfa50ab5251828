package journal

import "testing"

// TestReports: what was reported, and whether tell has stored it, is remembered for exactly that version and state.
func TestReports(t *testing.T) {
	const odd = "a\n"
	key := Key{ID: PaymentID("a")}
	entry := func(version int) *Entry {
		return &Entry{Begun: Intent{ID: PaymentID("a")}, Evidence: make([]Evidence, version)}
	}
	for _, tt := range []struct {
		name    string
		do      func(*reports)
		known   bool
		version int
		settled bool
	}{
		{"nothing reported", func(*reports) {}, false, 0, false},
		{"reported", func(r *reports) { r.set(entry(1), Pending) }, true, 1, false},
		{"reported twice", func(r *reports) { r.set(entry(1), Pending); r.set(entry(1), Pending) }, true, 1, false},
		{"reported and settled", func(r *reports) { r.set(entry(1), Pending); r.setSettled(entry(1)) }, true, 1, true},
		{"settled, and reported again", func(r *reports) { r.set(entry(1), Pending); r.setSettled(entry(1)); r.set(entry(1), Pending) }, true, 1, true},
		{"settled, and reported in another state", func(r *reports) { r.set(entry(1), Unknown); r.setSettled(entry(1)); r.set(entry(1), Pending) }, true, 1, false},
		{"settled, and a newer version reported", func(r *reports) { r.set(entry(1), Pending); r.setSettled(entry(1)); r.set(entry(2), Pending) }, true, 2, false},
		{"settled is an older version", func(r *reports) { r.set(entry(2), Pending); r.setSettled(entry(1)) }, true, 2, false},
		{"settled and forgotten", func(r *reports) { r.setSettled(entry(0)) }, false, 0, false},
		{"an older version reported", func(r *reports) { r.set(entry(2), Pending); r.set(entry(1), Unknown) }, true, 2, false},
		{"refuted", func(r *reports) { r.set(entry(2), Pending); was, _ := r.get(key); r.refuted(key, was) }, true, versionUnseen, false},
		{"another was refuted", func(r *reports) {
			r.set(entry(1), Pending)
			was, _ := r.get(key)
			r.set(entry(2), Pending)
			r.refuted(key, was)
		}, true, 2, false},
		{"removed", func(r *reports) { r.set(entry(1), Pending); r.remove(key) }, false, 0, false},
		{"acknowledged", func(r *reports) { r.set(entry(1), Pending); ackLast(r, key) }, true, 1, false},
		{"acknowledged and removed", func(r *reports) { r.set(entry(1), Pending); ackLast(r, key); r.remove(key) }, false, 0, false},
		{"acknowledged, and a newer version reported", func(r *reports) { r.set(entry(1), Pending); ackLast(r, key); r.set(entry(2), Succeeded) }, true, 2, false},
		{"acknowledged, and then the entry not read", func(r *reports) {
			r.set(entry(1), Pending)
			ackLast(r, key)
			r.setUnseen(&Intent{ID: PaymentID("a")})
		}, true, 1, false},
		{"entry not read", func(r *reports) { r.setUnseen(&Intent{ID: PaymentID("a")}) }, true, versionUnseen, false},
		{"reported, and then the entry not read", func(r *reports) { r.set(entry(1), Pending); r.setUnseen(&Intent{ID: PaymentID("a")}) }, true, 1, false},
		{"entry not read, and an id that no store can store", func(r *reports) { r.setUnseen(&Intent{ID: PaymentID(odd)}) }, false, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r reports
			tt.do(&r)
			got, known := r.get(key)
			if _, kept := r.get(Key{ID: PaymentID(odd)}); kept {
				t.Error("it remembers a payment that cannot be acknowledged")
			}
			if known != tt.known || known && (got.version != tt.version || got.settled != tt.settled) {
				t.Errorf("got %t, version %d, settled %t; want %t, %d, %t", known, got.version, got.settled, tt.known, tt.version, tt.settled)
			}
		})
	}
}

// TestAckedReportsAreNoLoss: however many payments are acknowledged, what is not acknowledged is not taken for forgotten.
func TestAckedReportsAreNoLoss(t *testing.T) {
	r := reports{last: recent[Key, report]{most: 2}}
	for i := range 10 {
		key := Key{ID: PaymentID(string(rune('a' + i)))}
		r.set(&Entry{Begun: Intent{ID: key.ID}}, Succeeded)
		ackLast(&r, key)
	}
	if r.hasForgotten() {
		t.Error("it has forgotten what was told")
	}
}

func ackLast(r *reports, key Key) {
	last, _ := r.get(key)
	r.setAcked(key, last)
}
