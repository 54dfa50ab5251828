package main

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

const (
	refundDays    = 30
	refundsEvery  = 10 * time.Second
	refundTimeout = 20 * time.Second
)

// refundList caches the last month's refunds of the whole shop for a few seconds, so that there are few queries however
// many customers look. In a large shop, a job would write them into the database instead.
type refundList struct {
	mu   sync.Mutex // held during the query: other callers wait for the same response
	at   time.Time
	rows []*cardgateway.Refund
}

func (s *Shop) recentRefunds(ctx context.Context) ([]*cardgateway.Refund, error) {
	s.refunds.mu.Lock()
	defer s.refunds.mu.Unlock()
	if time.Since(s.refunds.at) < refundsEvery {
		return s.refunds.rows, nil
	}
	ctx, cancel := context.WithTimeout(ctx, refundTimeout)
	defer cancel()
	var rows []*cardgateway.Refund
	now := time.Now()
	for r, err := range s.client.Refunds(ctx, cardgateway.RefundQuery{Start: now.AddDate(0, 0, -refundDays), End: now}) {
		if err != nil {
			return nil, err // never a part without an error
		}
		rows = append(rows, r)
	}
	s.refunds.at, s.refunds.rows = now, rows
	return rows, nil
}

// refundRow is a refund of one of the customer's orders.
type refundRow struct {
	*cardgateway.Refund
	OrderID string
}

// Done reports whether the money has been refunded.
func (r refundRow) Done() bool { return r.Code == cardgateway.CodeRefundSuccess }

func (s *Shop) showRefunds(w http.ResponseWriter, r *http.Request) error {
	orders, err := s.store.OrdersOf(r.Context(), s.customer(w, r))
	if err != nil {
		return err
	}
	own := make(map[string]string) // the gateway's id to the order's
	for _, o := range orders {
		own[o.UniqueID] = o.ID
	}
	delete(own, "")
	var rows []refundRow
	var failed bool
	if len(own) > 0 {
		all, err := s.recentRefunds(r.Context())
		if failed = err != nil; failed {
			s.log.Warn("listing refunds", "error", err)
		}
		for _, refund := range all {
			if id := own[refund.UniqueID]; id != "" {
				rows = append(rows, refundRow{refund, id})
			}
		}
	}
	return s.render(w, r, http.StatusOK, "refunds", struct {
		Rows   []refundRow
		Failed bool
		Days   int
	}{rows, failed, refundDays})
}
