package clienttest

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// Till counts how many times each payment was executed, for comparison with what a client returns.
type Till struct {
	mu       sync.Mutex
	executed map[string]int
}

// Execute counts a payment.
func (l *Till) Execute(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.executed == nil {
		l.executed = map[string]int{}
	}
	l.executed[id]++
}

// Count returns how many times a payment was executed.
func (l *Till) Count(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executed[id]
}

// Handle reads the complete request of a payment and executes it. It returns the transactionId.
func (l *Till) Handle(r *http.Request) (id string, ok bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", false
	}
	id = TransactionIDIn(body)
	l.Execute(id)
	return id, true
}

// TransactionIDIn returns the transactionId in the body of a request, without using the client's own reader.
func TransactionIDIn(body []byte) string {
	_, rest, _ := bytes.Cut(body, []byte(`"transactionId":"`))
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(id)
}
