package simulation

import (
	"cmp"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// scheduler lets one goroutine of the world work at a time. Every contact of a process with the outside is a place where its
// goroutine can be parked; the driver lets one go when all others wait. While only one call is under way, nobody
// is parked: it is alone anyway.
type scheduler struct {
	mu         sync.Mutex
	on         bool
	parked     []*parked
	working    int           // calls that have been started and have not ended
	wake       chan struct{} // something was parked, or a call has ended
	seed       uint64
	picks      uint64
	background int // calls that nobody waits for, such as Run
}

type parked struct {
	name string // says who waits for what, to put them in an order that does not depend on the run
	next chan struct{}
}

func (s *scheduler) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// park waits until the driver lets this goroutine go.
func (s *scheduler) park(name string) {
	s.mu.Lock()
	if !s.on {
		s.mu.Unlock()
		return
	}
	p := &parked{name, make(chan struct{})}
	s.parked = append(s.parked, p)
	s.signal()
	s.mu.Unlock()
	<-p.next
}

// setOn begins or ends the time in which goroutines are parked.
func (s *scheduler) setOn(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = on || s.background > 0
}

// isOn reports whether several calls may be under way.
func (s *scheduler) isOn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.on
}

// release lets one parked goroutine go, and reports false if there is none.
func (s *scheduler) release() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parked) == 0 {
		return false
	}
	slices.SortStableFunc(s.parked, func(a, b *parked) int { return cmp.Compare(a.name, b.name) })
	s.picks++
	i := int(mix(s.seed, s.picks) % uint64(len(s.parked)))
	close(s.parked[i].next)
	s.parked = slices.Delete(s.parked, i, i+1)
	return true
}

// until drives the world until done reports true, or until the time has come.
func (s *scheduler) until(done func() bool, timer <-chan time.Time) {
	for {
		synctest.Wait()
		if done() {
			return
		}
		if s.release() {
			continue
		}
		select {
		case <-s.wake:
		case <-timer:
			return
		}
	}
}

// sleep lets time pass.
func (s *scheduler) sleep(d time.Duration) {
	s.mu.Lock()
	quiet := s.background == 0
	s.mu.Unlock()
	if quiet {
		time.Sleep(d)
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	s.until(func() bool { return false }, timer.C)
}

// run runs calls at the same time, each in its own goroutine, and waits for all.
func (s *scheduler) run(seed uint64, calls []func()) {
	s.mu.Lock()
	s.seed, s.picks = seed, 0
	s.working += len(calls)
	quiet := s.background == 0
	s.mu.Unlock()
	if len(calls) == 1 && quiet && !s.on {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer s.ended()
			calls[0]()
		}()
		<-done
		return
	}
	for i, call := range calls {
		go func() {
			defer s.ended()
			s.park("start " + string(rune('a'+i)))
			call()
		}()
	}
	s.until(func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.working == 0
	}, nil)
}

func (s *scheduler) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.working--
	s.signal()
}

// begin is called when something begins that nobody waits for, and end when it ends.
func (s *scheduler) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.background++
	s.on = true
}

func (s *scheduler) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.background--
	s.on = s.on && (s.background > 0 || s.working > 0)
	s.signal()
}
