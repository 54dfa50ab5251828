package faults

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Verdict is what a design finally reports about a payment.
type Verdict string

// The verdicts.
const (
	Paid     Verdict = "paid"
	Declined Verdict = "declined"
	Refused  Verdict = "refused"
	NotSent  Verdict = "not sent"
	Absent   Verdict = "absent" // presumed: not found for longer than any delivery takes
	Pending  Verdict = "pending"
	Unknown  Verdict = "unknown"
	Conflict Verdict = "conflict"
)

// verdictOf reads the result of a payment call, of Resolve, or of an entry of the journal.
func verdictOf(t *cardgateway.Transaction, err error) Verdict {
	switch {
	case err == nil && t.State() == cardgateway.StateApproved:
		return Paid
	case err == nil:
		return Pending
	case errors.Is(err, cardgateway.ErrConflict):
		return Conflict
	case errors.Is(err, cardgateway.ErrDeclined):
		return Declined
	case errors.Is(err, cardgateway.ErrRefused):
		return Refused
	case errors.Is(err, cardgateway.ErrNotSent):
		return NotSent
	case errors.Is(err, cardgateway.ErrNotFound):
		return Absent
	}
	return Unknown
}

// Design is a way of making payments and refunds under test.
type Design interface {
	Name() string
	// Make makes a payment or a refund and returns its verdict. It is called concurrently.
	Make(ctx context.Context, m movement) Verdict
	// Finish is called once, when nothing is in progress any more, with the verdicts so far, and updates them.
	Finish(ctx context.Context, all []movement, verdicts []Verdict)
}

// movement is a payment or a refund: an Order or a Refund.
type movement interface {
	id() string
	// submit makes it with a client or a journal.
	submit(ctx context.Context, by payer, tokens map[sandbox.Outcome]string) (Verdict, error)
	// resolve asks for the outcome of what submit left open with an error, or, without one, of what was submitted long ago.
	resolve(ctx context.Context, c *cardgateway.Client, lost error) Verdict
	// wire returns the request as a program without this client would send it, and answered what it reads from a response's code.
	wire(tokens map[sandbox.Outcome]string) (path string, body []byte)
	answered(code int) Verdict
	// moved returns how often the gateway moved its money.
	moved(g *sandbox.Gateway) int
}

// site is the gateway of a design, behind a front.
type site struct {
	front   *Front
	tokens  map[sandbox.Outcome]string
	callers []caller // told when no more payments are made
}

// newSite starts a front. If only is set, every payment has that fault and no query has one.
func newSite(g *sandbox.Gateway, opts FrontOptions) *site {
	if opts.Only != nil {
		opts.PaymentShare, opts.QueryShare = 1, 0
	}
	return &site{front: NewFront(g, opts), tokens: storedCards(g)}
}

// client returns a client of the site. Over h2 its transport is one that the client cannot make speak HTTP/1.1.
func (s *site) client() (*cardgateway.Client, error) {
	own := s.front.Transport()
	var transport http.RoundTripper = own
	if s.front.opts.Proto == "h2" {
		transport = opaque{transport}
	}
	c, err := cardgateway.New(cardgateway.Config{
		BaseURL: s.front.URL, AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: transport}, AttemptTimeout: patience,
		Retry: cardgateway.RetryPolicy{MinWait: 2 * time.Millisecond, MaxWait: 20 * time.Millisecond},
	})
	s.callers = append(s.callers, c, own)
	return c, err
}

// opaque hides the type of a transport.
type opaque struct{ http.RoundTripper }

// clientDesign is the bare client: send once, and Resolve what is unknown.
type clientDesign struct {
	*site
	client *cardgateway.Client
}

// newClientDesign pays with the client alone.
func newClientDesign(s *site) (Design, error) {
	c, err := s.client()
	return &clientDesign{s, c}, err
}

func (d *clientDesign) Name() string { return "this client, with Resolve" }

func (d *clientDesign) Make(ctx context.Context, m movement) Verdict {
	v, err := m.submit(ctx, d.client, d.tokens)
	if errors.Is(err, cardgateway.ErrOutcomeUnknown) {
		v = m.resolve(ctx, d.client, err)
	}
	return v
}

// Finish queries again what is pending and unknown, and once more what was not found: absence counts only when nothing can be
// in transit any more.
func (d *clientDesign) Finish(ctx context.Context, all []movement, verdicts []Verdict) {
	each(len(verdicts), 64, func(i int) {
		if verdicts[i] == Absent {
			verdicts[i] = Unknown
		}
		for try := 0; try < 20 && (verdicts[i] == Pending || verdicts[i] == Unknown); try++ {
			verdicts[i] = all[i].resolve(ctx, d.client, nil)
		}
	})
}

// ourDesigns is how many of the designs are this project's: they are the first ones.
const ourDesigns = 2

// Designs returns the compared designs.
func Designs() []func(*site) (Design, error) {
	return []func(*site) (Design, error){newClientDesign, newJournalDesign, newRetryable, newLoop}
}
