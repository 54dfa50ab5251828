// Package bounded has a map of limited size.
package bounded

// Map keeps the Limit entries that were added last. Its zero value keeps one. It is not safe for concurrent use.
type Map[K comparable, V any] struct {
	Limit int

	entries map[K]V
	order   []K // a ring buffer, once it has its full length
	oldest  int // index in order, from then on
}

// Get returns the value of a key.
func (m *Map[K, V]) Get(k K) (V, bool) {
	v, ok := m.entries[k]
	return v, ok
}

// Put adds an entry, in place of the oldest one if the map is full, or changes the value of a key that the map has.
func (m *Map[K, V]) Put(k K, v V) {
	if m.entries == nil {
		m.entries = map[K]V{}
	}
	if _, known := m.entries[k]; !known {
		if len(m.order) < max(m.Limit, 1) {
			m.order = append(m.order, k)
		} else {
			delete(m.entries, m.order[m.oldest])
			m.order[m.oldest] = k
			m.oldest = (m.oldest + 1) % len(m.order)
		}
	}
	m.entries[k] = v
}
