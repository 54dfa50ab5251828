package temporal

import (
	"fmt"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestRateOfQueries: several workers together keep the limit of queries for single payments.
func TestRateOfQueries(t *testing.T) {
	s, gateway, _, task := deploy(t)
	const limit = 2
	task.Queries, task.Token = limit, gateway.NewToken(sandbox.Pending)
	for range 3 {
		startWorker(t, task)
	}
	for i := range 30 {
		_, err := s.engine().Start(t.Context(), Settlement{ID: journal.PaymentID(fmt.Sprintf("t-%d", i)), FirstQuery: time.Second})
		must(t, err)
	}
	time.Sleep(6 * time.Second)
	gateway.mu.Lock()
	defer gateway.mu.Unlock()
	searches := gateway.searches
	most, begin := 0, 0 // in the busiest five seconds
	for i := range searches {
		for searches[i].Sub(searches[begin]) > 5*time.Second {
			begin++
		}
		most = max(most, i-begin+1)
	}
	t.Logf("three workers, 30 payments that ask every second, a limit of %d a second: at most %.1f a second over 5 s", limit, float64(most)/5)
	if most > 5*limit+4 { // the server lets some begin at once
		t.Errorf("got %d queries in 5 s, want at most %d", most, 5*limit+4)
	}
}
