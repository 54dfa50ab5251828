package journal

import "sync"

// touched tells each Recover that is under way which payments this process has changed since it began: what its list says
// of them is old.
type touched struct {
	mu   sync.Mutex
	sets map[*touchedSet]struct{}
}

// touchedSet is what one Recover has been told.
type touchedSet struct {
	mu  sync.Mutex
	ids map[Key]struct{}
	all bool // there were too many to remember
}

const mostTouched = 64 << 10

// watch returns a set that is told from now on.
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
