package journal

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestSoonIsBounded: however much changes or ends unknown, and whether or not Run is called, little is remembered.
func TestSoonIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSoon()
		for i := range 100_000 {
			id := PaymentID(fmt.Sprint(i))
			s.change(id)
			s.change(id)
			s.query(id, time.Second)
		}
		if len(s.wake) != 1 {
			t.Error("it wakes nobody")
		}
		if due, next := s.takeDue(time.Now(), 10); len(due) != 0 || !next.Equal(time.Now().Add(time.Second)) {
			t.Errorf("%d are due, the next at %v; want none before a second", len(due), next)
		}
		time.Sleep(time.Second)
		if due, _ := s.takeDue(time.Now(), 10); len(due) != 10 {
			t.Errorf("took %d, want 10", len(due))
		}
		if due, _ := s.takeDue(time.Now(), maxSoon); len(due) != maxSoon-10 {
			t.Errorf("took %d, want the others of %d", len(due), maxSoon)
		}
		for _, want := range []int{maxSoon, 0} {
			if ids := s.takeChanged(); len(ids) != want {
				t.Errorf("%d have changed, want %d", len(ids), want)
			}
		}
	})
}

// TestSoonIsNotPutOff: a planned query stays when another one would come later, and comes earlier otherwise.
func TestSoonIsNotPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSoon()
		id := PaymentID("1")
		for _, pause := range []time.Duration{4 * time.Second, 2 * time.Second, 8 * time.Second} {
			s.query(id, pause)
		}
		time.Sleep(2 * time.Second)
		if due, _ := s.takeDue(time.Now(), 1); len(due) != 1 || due[0].pause != 2*time.Second {
			t.Errorf("due are %+v, want the one after 2 s", due)
		}
	})
}
