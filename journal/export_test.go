package journal

import (
	"context"
	"sync"
)

var background = context.Background()

// NormalURL is normalURL.
var NormalURL = normalURL

// LateStore is a store that records approvals later: when somebody needs one, or Write is called.
type LateStore struct {
	Store
	Fail  error // the result of recording later, if not nil
	Stuck bool  // nothing is written until Write is called
	Full  error // nothing is recorded later, if not nil

	mu      sync.Mutex
	waiting []func()
}

func (s *LateStore) recordLater(key Key, version int, ev Evidence, ended func(error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Full != nil {
		return s.Full
	}
	s.waiting = append(s.waiting, func() {
		if s.Fail != nil {
			ended(s.Fail)
			return
		}
		ended(s.Record(background, key, version, ev))
	})
	return nil
}

func (s *LateStore) hurry() {
	if !s.Stuck {
		go s.Write()
	}
}

// Write writes what is waiting, and returns how many approvals that were.
func (s *LateStore) Write() int {
	s.mu.Lock()
	waiting := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	for _, write := range waiting {
		write()
	}
	return len(waiting)
}

// Waiting returns how many approvals are waiting.
func (s *LateStore) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// MostLate is how many approvals may wait.
const MostLate = mostLate
