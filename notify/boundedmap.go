package notify

import "crypto/sha256"

// hashKey represents a key of any length in a fixed number of bytes.
type hashKey [sha256.Size]byte

func newHashKey(key string) hashKey { return sha256.Sum256([]byte(key)) }

// boundedMap keeps the most recently added entries. It is not safe for concurrent use.
type boundedMap[V any] struct {
	entries map[hashKey]V
	order   []hashKey // a ring buffer, once it has its full length
	next    int       // index of the oldest, from then on
	limit   int
}

func newBoundedMap[V any](limit int) boundedMap[V] {
	return boundedMap[V]{entries: map[hashKey]V{}, limit: limit}
}

func (m *boundedMap[V]) get(k hashKey) (V, bool) {
	v, ok := m.entries[k]
	return v, ok
}

func (m *boundedMap[V]) put(k hashKey, v V) {
	if _, known := m.entries[k]; !known {
		if len(m.order) < m.limit {
			m.order = append(m.order, k)
		} else {
			delete(m.entries, m.order[m.next])
			m.order[m.next] = k
			m.next = (m.next + 1) % m.limit
		}
	}
	m.entries[k] = v
}
