package journal

import "sync"

// touched adds to the set of each running Recover the payments that this process has changed since it began: its list may
// have them in an older version.
type touched struct {
	mu   sync.Mutex
	sets map[*touchedSet]struct{}
}

// touchedSet is the set of one Recover.
type touchedSet struct {
	mu  sync.Mutex
	ids map[Key]struct{}
	all bool // there were too many to remember
}

const mostTouched = 64 << 10

// watch returns a set to which every change from now on is added.
func (t *touched) watch() *touchedSet {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sets == nil {
		t.sets = make(map[*touchedSet]struct{})
	}
	s := &touchedSet{ids: make(map[Key]struct{})}
	t.sets[s] = struct{}{}
	return s
}

func (t *touched) unwatch(s *touchedSet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sets, s)
}

func (t *touched) add(key Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.sets {
		s.mu.Lock()
		if s.all = s.all || len(s.ids) >= mostTouched; s.all {
			s.ids = nil
		} else {
			s.ids[key] = struct{}{}
		}
		s.mu.Unlock()
	}
}

func (s *touchedSet) has(key Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.ids[key]
	return s.all || ok
}
