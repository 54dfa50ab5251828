package clienttest

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// Till counts how often each payment was executed: what a client says is compared with it.
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

// Count returns how often a payment was executed.
func (l *Till) Count(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executed[id]
}

// Handle reads the whole request of a payment and executes it. It returns the transactionId.
func (l *Till) Handle(r *http.Request) (id string, ok bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", false
	}
	id = TransactionIDIn(body)
	l.Execute(id)
	return id, true
}

// TransactionIDIn finds the transactionId in the body of a request, without the client's own reader.
func TransactionIDIn(body []byte) string {
	_, rest, _ := bytes.Cut(body, []byte(`"transactionId":"`))
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(id)
}
