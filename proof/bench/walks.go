package bench

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/proof/bench/internal/loopback"
	"github.com/stripe/stripe-go/v86"
)

// pageSize is the page size of every walk that does not leave it to the gateway.
const pageSize = 100

// walker reads all rows of the first months of the book with one of the libraries, and returns their number.
type walker struct {
	client string
	walk   func(ctx context.Context, months int) (int, error)
}

// walkersOf returns the walks with a server that delays each response. That of stripe-go reads the same number of
// rows of its own kind.
func walkersOf(p *loopback.Process, secure bool, delay time.Duration) ([]walker, error) {
	base := p.URL(secure, delay)
	client := &http.Client{Transport: p.Transport(idleConnections), Timeout: timeout}
	own, err := ownClient(p, base)
	if err != nil {
		return nil, err
	}
	return []walker{
		{"hand", handWalk(client, base)},
		{"cardgateway-1", ownWalk(own, cardgateway.WalkOptions{PageSize: pageSize, Prefetch: 1})},
		{"cardgateway-4", ownWalk(own, cardgateway.WalkOptions{PageSize: pageSize, Prefetch: 4})},
		{"cardgateway-16", ownWalk(own, cardgateway.WalkOptions{PageSize: pageSize, Prefetch: 16})},
		{"cardgateway-default", ownWalk(own, cardgateway.WalkOptions{})},
		{"stripe-go", stripeWalk(stripeClient(client, base))},
	}, nil
}

// count counts the elements of a sequence until its end or first error.
func count[T any](rows iter.Seq2[T, error]) (n int, err error) {
	for _, err := range rows {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func ownWalk(c *cardgateway.Client, opts cardgateway.WalkOptions) func(context.Context, int) (int, error) {
	return func(ctx context.Context, months int) (int, error) {
		q := cardgateway.OrderQuery{Start: loopback.Month(0), End: loopback.Month(months)}
		return count(c.OrderWalk(q, opts).All(ctx))
	}
}

// handWalk reads the months and their pages in sequence. It trusts totalPage, and misses rows if orders arrive meanwhile.
func handWalk(client *http.Client, base string) func(context.Context, int) (int, error) {
	return func(ctx context.Context, months int) (rows int, err error) {
		for m := range months {
			for number, last := 1, 1; number <= last; number++ {
				p, err := fetchPage(ctx, client, base, loopback.Month(m), monthEnd(m), number, pageSize)
				if err != nil {
					return rows, err
				}
				rows, last = rows+len(p.Data), p.TotalPage
			}
		}
		return rows, nil
	}
}

// monthEnd is the last second of a month: the server's bounds are inclusive.
func monthEnd(m int) time.Time { return loopback.Month(m + 1).Add(-time.Second) }

func stripeWalk(c *stripe.Client) func(context.Context, int) (int, error) {
	return func(ctx context.Context, months int) (int, error) {
		params := &stripe.PaymentIntentListParams{Customer: new(strconv.Itoa(months * loopback.RowsPerMonth))}
		params.Limit = new(int64(pageSize))
		return count(iter.Seq2[*stripe.PaymentIntent, error](c.V1PaymentIntents.List(ctx, params).All(ctx)))
	}
}
