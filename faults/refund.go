package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Refunds with the faults of payments.

// RefundBehavior is one way in which a gateway may treat a repeated refundTransactionId. No gateway publishes which one it
// has.
type RefundBehavior struct {
	Name       string
	Duplicates sandbox.RefundDuplicates
	LeakShare  float64
}

// RefundBehaviors returns the four behaviors.
func RefundBehaviors() []RefundBehavior {
	return []RefundBehavior{
		{"no duplicate check", sandbox.RefundDuplicatesExecuted, 0},
		{"501 for a seen id", sandbox.RefundDuplicatesRefused, 0},
		{"no duplicate check, leaky filter", sandbox.RefundDuplicatesExecuted, 0.3},
		{"the first answer once more", sandbox.RefundDuplicatesRepeated, 0},
	}
}

// RefundProtos returns the protocols for the refunds of each behavior.
func RefundProtos() []string { return []string{"http", "tls", "h2", "http"} }

// Refund is a refund to make. Its verdicts are those of payments: Paid means refunded, Pending accepted, Declined finally
// declined.
type Refund struct {
	ID       string
	UniqueID string // of the payment, whose amount is enough for five times the refund
	Amount   string
}

const (
	refundedPayment = 500
	tooMuch         = "501.00" // which the gateway declines
)

// Refunds makes n payments, and returns a refund of each. One in ten exceeds the amount that was paid.
func Refunds(g *sandbox.Gateway, seed uint64, n int) ([]Refund, error) {
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.test", AppID: "7", HTTPClient: &http.Client{Transport: g.RoundTripper()},
	})
	if err != nil {
		return nil, err
	}
	all, failed := make([]Refund, n), make([]error, n)
	each(n, 8, func(i int) {
		o := Order{ID: fmt.Sprintf("pay-%d-%06d", seed, i), Card: sandbox.Approved, Amount: fmt.Sprint(refundedPayment)}
		t, err := o.pay(background, client, "")
		if err != nil {
			failed[i] = err
			return
		}
		all[i] = Refund{ID: fmt.Sprintf("back-%d-%06d", seed, i), UniqueID: t.UniqueID, Amount: fmt.Sprintf("%d.%02d", 1+i%90, i%100)}
		if draw(seed, all[i].ID, 'a', 0).IntN(10) == 0 {
			all[i].Amount = tooMuch
		}
	})
	return all, errors.Join(failed...)
}

func (r *Refund) request() cardgateway.RefundRequest {
	return cardgateway.RefundRequest{UniqueID: r.UniqueID, RefundTransactionID: r.ID, Amount: decimal.RequireFromString(r.Amount)}
}

// wire returns the request as a program without this client would send it.
func (r *Refund) wire() (path string, body []byte) {
	return "/api/refund", fmt.Appendf(nil, `{"uniqueId":%q,"refundTransactionId":%q,"amount":%q}`, r.UniqueID, r.ID, r.Amount)
}

// refundVerdict reads the result of CreateRefund, of ResolveRefund, or of an entry of the journal.
func refundVerdict(r *cardgateway.Refund, err error) Verdict {
	if err != nil {
		return verdictOf(nil, err)
	}
	if r.Refunded() {
		return Paid
	}
	return Pending
}

// RefundDesign is a way of making refunds under test. Its methods are like those of Design.
type RefundDesign interface {
	Name() string
	PayBack(ctx context.Context, r *Refund) Verdict
	SettleRefunds(ctx context.Context, refunds []Refund, verdicts []Verdict)
}

// RefundDesigns returns the compared designs: the first two are this project's.
func RefundDesigns() []func(*site) (RefundDesign, error) {
	return []func(*site) (RefundDesign, error){
		func(s *site) (RefundDesign, error) {
			c, err := s.client()
			return &clientDesign{s, c}, err
		},
		func(s *site) (RefundDesign, error) { return journalInMemory(s) },
		func(s *site) (RefundDesign, error) { return retryable(s), nil },
		func(s *site) (RefundDesign, error) { return loop(s), nil },
	}
}

func (d *clientDesign) PayBack(ctx context.Context, r *Refund) Verdict {
	got, err := d.client.CreateRefund(ctx, r.request())
	if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok {
		q := unknown.Query()
		q.Wait = 5 * d.patience // late deliveries are over by then
		got, err = d.client.ResolveRefund(ctx, q)
	}
	return refundVerdict(got, err)
}

// SettleRefunds queries again, like Settle.
func (d *clientDesign) SettleRefunds(ctx context.Context, refunds []Refund, verdicts []Verdict) {
	settle(verdicts, func(i int) Verdict {
		req := refunds[i].request()
		return refundVerdict(d.client.ResolveRefund(ctx, cardgateway.ResolveRefundQuery{
			UniqueID: req.UniqueID, RefundTransactionID: req.RefundTransactionID, Amount: req.Amount,
			SentAt: time.Now().Add(-time.Hour), Wait: 1,
		}))
	})
}

func (d *journalDesign) PayBack(ctx context.Context, r *Refund) Verdict {
	return refundVerdict(d.shop.CreateRefund(ctx, r.request()))
}

// SettleRefunds recovers, like Settle.
func (d *journalDesign) SettleRefunds(ctx context.Context, refunds []Refund, verdicts []Verdict) {
	at := make(map[string]int, len(refunds))
	for i := range refunds {
		at[refunds[i].ID] = i
	}
	d.recover(ctx, at, verdicts)
}

// PayBack treats an accepted refund as made: these designs do not query its outcome.
func (p *peer) PayBack(ctx context.Context, r *Refund) Verdict {
	path, body := r.wire()
	switch p.post(ctx, path, body) {
	case 110, 111:
		return Paid
	case 112:
		return Declined
	}
	return Unknown
}

// SettleRefunds does nothing.
func (p *peer) SettleRefunds(context.Context, []Refund, []Verdict) {}

// RefundMix is a run of many refunds with many faults.
type RefundMix struct {
	Seed     uint64
	Refunds  int
	Behavior RefundBehavior
	Proto    string
	Only     *Fault        // if set, every refund has this fault and no query has one
	Patience time.Duration // of callers; zero means 400 ms
}

// Run makes the refunds with the design that the function returns, waits until nothing is in transit, and evaluates the
// verdicts.
func (m RefundMix) Run(design func(*site) (RefundDesign, error)) (*Row, error) {
	m.Patience = cmp.Or(m.Patience, 400*time.Millisecond)
	g := sandbox.New(sandbox.Options{
		RefundDuplicates: m.Behavior.Duplicates, RefundSettleAfter: m.Patience / 2, NoNotifications: true, Seed: m.Seed,
		Search: sandbox.Search{Lag: m.Patience / 2, LagOneIn: 5},
	})
	defer g.Close()
	refunds, err := Refunds(g, m.Seed, m.Refunds)
	if err != nil {
		return nil, err
	}
	s := newSite(g, FrontOptions{
		Seed: m.Seed, PaymentShare: 0.5, QueryShare: 0.3, LeakShare: m.Behavior.LeakShare, Patience: m.Patience, Proto: m.Proto, Only: m.Only,
	})
	defer s.front.Close()
	d, err := design(s)
	if err != nil {
		return nil, err
	}
	return m.run(g, s, d, refunds)
}

func (m RefundMix) run(g *sandbox.Gateway, s *site, d RefundDesign, refunds []Refund) (*Row, error) {
	begun := time.Now()
	verdicts := make([]Verdict, len(refunds))
	each(len(refunds), workersOver(m.Proto), func(i int) { verdicts[i] = d.PayBack(background, &refunds[i]) })
	if err := s.front.Settle(s.callers...); err != nil {
		return nil, err
	}
	time.Sleep(m.Patience) // until the slowest row can be found, and the last refund is made
	d.SettleRefunds(background, refunds, verdicts)
	row := &Row{
		Design: d.Name(), Behavior: m.Behavior.Name, Proto: cmp.Or(m.Proto, "http"), Payments: m.Refunds,
		Posts: s.front.Posts.Load(), Verdicts: make(map[Verdict]int), Took: time.Since(begun),
	}
	for i := range refunds {
		row.judge(refunds[i].ID, verdicts[i], g.Refunded(refunds[i].ID))
	}
	return row, nil
}

// PrintRefunds writes rows of refunds as a table. Forgotten are refunds that were made and reported as absent or unknown.
func PrintRefunds(w io.Writer, rows []*Row) {
	var cells [][]any
	for _, r := range rows {
		cells = append(cells, []any{r.gateway(), r.Design, int(r.Posts), r.Twice, r.Wrong, r.Forgotten(), r.UnknownNot, r.StillPending})
	}
	printTable(w, "Gateway|Design|Requests|Refunded twice|Wrong|Lost|Unknown, not refunded|Left pending", cells)
}
