//go:build linux || darwin

package main

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// changingShop makes a gateway change as merchants and customers do: payments are made and settled, refunded and settled, and
// orders appear that happened hours ago.
type changingShop struct {
	server *sandbox.Server
	client *cardgateway.Client
	token  string
	n      int
	open   []string // transaction ids
	unpaid []string // ids of refunds that are accepted
}

func newChangingShop(t *testing.T, server *sandbox.Server) *changingShop {
	t.Helper()
	return &changingShop{server: server, client: clientOf(t, server, "7"), token: server.NewToken(sandbox.Approved)}
}

func (s *changingShop) change(t *testing.T) {
	t.Helper()
	for _, id := range s.open {
		s.server.Settle(id, s.n%3 != 0)
	}
	for _, id := range s.unpaid {
		s.server.SettleRefund(id, true)
	}
	s.open, s.unpaid = nil, nil
	for range 3 {
		s.n++
		id := fmt.Sprintf("t-%d", s.n)
		payment, err := s.client.TokenPayment(t.Context(), cardgateway.NewToken(s.token), paymentOf(id, fmt.Sprint(s.n), "EUR"))
		if err != nil {
			t.Fatal(err)
		}
		if s.n%3 == 0 {
			s.open = append(s.open, id)
			continue
		}
		s.server.Settle(id, true)
		refund := fmt.Sprintf("r-%d", s.n)
		if _, err := s.server.Refund(payment.UniqueID, "1", refund); err != nil {
			t.Fatal(err)
		}
		s.unpaid = append(s.unpaid, refund)
	}
	s.server.Seed(30, time.Now().Add(-40*time.Hour), time.Now().Add(-time.Hour)) // late
}

// requestTrigger is the log of a sandbox: it calls a function when so many more requests have come.
type requestTrigger struct {
	mu   sync.Mutex
	left int
	do   func()
}

func (r *requestTrigger) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left--; r.left == 0 && r.do != nil {
		go r.do()
	}
	return len(line), nil
}

func (r *requestTrigger) after(n int, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left, r.do = n, do
}
