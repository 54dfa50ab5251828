package sandbox

import (
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
)

// SeedOptions configures SeedOrders. The zero value of every field except N, From and To is what Seed does.
type SeedOptions struct {
	N    int // of orders
	From time.Time
	To   time.Time // not included; rows in the future are found from their time on

	// Random makes orders arrive independently of each other, like customers do. By default they are evenly spaced.
	Random bool
	// Hours is the relative rate in each hour of the day, UTC. All zero means a constant rate.
	Hours [24]float64
	// Seed selects one of many Random series.
	Seed uint64

	// Currencies are used in turn, each with its number of decimals. Nil means USD.
	Currencies []string

	// RefundEvery adds one refund for every n-th order. Zero means every tenth, negative none.
	RefundEvery int

	// RefundStates leaves every fifth refund at 110 (accepted), and sets every seventh to 112 (declined). By default all
	// are at 111.
	RefundStates bool

	// TwiceEvery charges every n-th order twice: a second success with the same transactionId is added at the time of the
	// next order. Zero means none.
	TwiceEvery int

	// RefundTwiceEvery adds every n-th refund twice, so that more is refunded than was paid. Zero means none.
	RefundTwiceEvery int

	// StrayRefunds is how many refunds are added for orders that do not exist in the gateway, in the same range.
	StrayRefunds int
}

// Seed adds n orders in [from, to), evenly spaced, and a refund for every tenth of them. They are computed on demand, so
// any number of them needs no memory. Of each hundred, seven are declined, two are at 102, and the rest are approved.
// Executed does not count them. SeedOrders adds other currencies and more.
func (g *Gateway) Seed(n int, from, to time.Time) {
	g.SeedOrders(SeedOptions{N: n, From: from, To: to})
}

// SeedOrders adds computed orders and their refunds as the options say. Orders can be seeded any number of times, for example
// for a burst. What is seeded cannot be settled, closed or charged back, but refunded.
func (g *Gateway) SeedOrders(o SeedOptions) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ledger.seeded.Add(generated.Seed(o), g.opts.AppID)
}
