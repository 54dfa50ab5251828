package journal

import "sync"

// recent is a map of limited size. It has two generations: when the newer one is full, the older one is dropped. This
// limits memory without a list of ages.
type recent[K comparable, V any] struct {
	mu           sync.Mutex
	most         int // in a generation; zero means mostRecent
	newer, older map[K]V
	forgot       bool // a generation with entries was dropped
}

const mostRecent = 16 << 10

func (r *recent[K, V]) get(k K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lookUp(k)
}

// update calls change with the value of k, and stores the value that change returns if it also returns true.
func (r *recent[K, V]) update(k K, change func(now V, known bool) (V, bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, known := r.lookUp(k)
	if v, replace := change(v, known); replace {
		r.put(k, v)
	}
}

func (r *recent[K, V]) remove(k K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.newer, k)
	delete(r.older, k)
}

func (r *recent[K, V]) hasForgotten() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forgot
}

func (r *recent[K, V]) lookUp(k K) (V, bool) {
	v, ok := r.newer[k]
	if !ok {
		v, ok = r.older[k]
	}
	return v, ok
}

func (r *recent[K, V]) put(k K, v V) {
	most := r.most
	if most == 0 {
		most = mostRecent
	}
	if _, ok := r.newer[k]; !ok && len(r.newer) >= most || r.newer == nil {
		r.forgot = r.forgot || len(r.older) > 0
		r.newer, r.older = make(map[K]V), r.newer
	}
	r.newer[k] = v
}
