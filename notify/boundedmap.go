package notify

import "crypto/sha256"

// hashKey stands for a key of any length in as many bytes as any other.
type hashKey [sha256.Size]byte

func newHashKey(key string) hashKey { return sha256.Sum256([]byte(key)) }

// boundedMap keeps the last entries that were put into it. It is not safe for use by several goroutines.
type boundedMap[V any] struct {
	entries map[hashKey]V
	order   []hashKey // a ring, once it has its full length
	next    int       // the oldest, from then on
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
