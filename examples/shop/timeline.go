package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/journal"
)

// moment is a line of an order's timeline.
type moment struct {
	At         time.Time
	Kind       string // how it is drawn: shop, out, in, lost, good, bad or ledger
	Word, Text string
	Times      int       // how often, if that is known
	Last       time.Time // the last time
}

// Event is something that the shop records about a payment or a refund, because the journal does not.
type Event string

// The events.
const (
	EventSent     Event = "sent"     // a request that may have arrived
	EventAsked    Event = "asked"    // a query for the outcome
	EventNotified Event = "notified" // a notification that a query has confirmed
)

// momentOfEvent has the lines of the events, without their times.
var momentOfEvent = map[Event]moment{
	EventSent:     {Kind: "out", Word: "Sent", Text: "To the payment service."},
	EventAsked:    {Kind: "out", Word: "Asked", Text: "The payment service, what became of it."},
	EventNotified: {Kind: "in", Word: "Notified", Text: "A notification came. It is only a reason to ask, because anybody can send one."},
}

// observe records what the client sends and asks; see cardgateway.Config.
func (s *Shop) observe(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
	begun := time.Now()
	return ctx, func(i cardgateway.CallInfo) {
		switch id := cmp.Or(op.TransactionID, op.RefundTransactionID); {
		case op.Payment && i.Outcome != cardgateway.OutcomeNotSent && i.Outcome != cardgateway.OutcomeInvalid:
			s.addEvent(ctx, id, EventSent, begun)
		case op.Name == "Resolve", op.Name == "ResolveRefund":
			s.addEvent(ctx, id, EventAsked, begun)
		}
	}
}

// eventTimeout limits how long a payment waits for the record of an event.
const eventTimeout = time.Second

// addEvent records an event. Of the same event of a payment or a refund, the first and the last time are kept, and how often it happened: so their
// number is limited, however long an outcome is unknown. Only the timeline needs it: if that fails, nothing else does.
func (s *Shop) addEvent(ctx context.Context, id string, what Event, at time.Time) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), eventTimeout)
	defer cancel()
	_, err := s.payments.DB.ExecContext(ctx, `INSERT INTO order_events (id, what, first_at, last_at, times) VALUES ($1, $2, $3, $3, 1)
		ON CONFLICT (id, what) DO UPDATE SET last_at = $3, times = order_events.times + 1`, id, what, at.UnixMicro())
	if err != nil {
		s.log.Warn("recording an event", "id", id, "error", err)
	}
}

// events returns the events of a payment or a refund.
func (s *Shop) events(ctx context.Context, id string) ([]moment, error) {
	return payments.Collect(ctx, s.payments.DB, func(scan func(...any) error) (m moment, err error) {
		var what Event
		var first, last int64
		var times int
		err = scan(&what, &first, &last, &times)
		m = momentOfEvent[what]
		m.At, m.Last, m.Times = time.UnixMicro(first), time.UnixMicro(last), times
		return m, err
	}, `SELECT what, first_at, last_at, times FROM order_events WHERE id = $1 ORDER BY first_at`, id)
}

// timeline returns what happened to an order's attempts and to its refunds, in order: what the journal has as evidence, what the shop has
// recorded, and with the sandbox, when money moved.
func (s *Shop) timeline(ctx context.Context, o payments.Order) (all []moment, _ error) {
	attempts, err := s.payments.Attempts(ctx, o.ID)
	if err != nil {
		return nil, err
	}
	var ids []journal.ID
	for _, id := range attempts {
		ids = append(ids, journal.PaymentID(id))
	}
	for _, r := range o.AllRefunds {
		ids = append(ids, journal.RefundID(r.ID))
	}
	for _, id := range ids {
		e, err := s.payments.Journal.Get(ctx, id)
		if errors.Is(err, journal.ErrNoEntry) { // not begun, or made in the gateway's back office
			continue
		}
		if err != nil {
			return nil, err
		}
		events, err := s.events(ctx, id.Text)
		if err != nil {
			return nil, err
		}
		all = append(append(all, momentsOf(&e)...), events...)
	}
	if s.demo != nil {
		all = append(all, s.demo.moved(ids)...)
	}
	slices.SortStableFunc(all, func(a, b moment) int { return a.At.Compare(b.At) })
	return all, nil
}

// momentsOf returns what the journal says about a payment or a refund.
func momentsOf(e *journal.Entry) []moment {
	what := "payment"
	if e.ID().Refund {
		what = "refund"
	}
	all := []moment{{At: e.Begun.At, Kind: "shop", Word: "Written down",
		Text: fmt.Sprintf("The %s of %s, in the shop's journal, before anything is sent.", what, money(e.Begun.Amount))}}
	for i := range e.Evidence {
		m := momentOf(&e.Evidence[i], what)
		m.At = e.Evidence[i].At
		all = append(all, m)
	}
	return all
}

func momentOf(ev *journal.Evidence, what string) moment {
	switch t := ev.Transaction; {
	case ev.Source == journal.SourceSubmission:
		return moment{Kind: "shop", Word: "Written down again", Text: "The earlier attempt has not moved any money, so the same " + what + " may be sent."}
	case ev.State == journal.Unknown && ev.Source == journal.SourceAnswer:
		return moment{Kind: "lost", Word: "Answer lost", Text: "The " + what + " may have been made, or not. It is not sent again."}
	case ev.State == journal.Unknown:
		return moment{Kind: "in", Word: "Answered", Text: "The payment service knows the " + what + ", and does not say yet how it ends."}
	case ev.State == journal.NotSent:
		return moment{Kind: "bad", Word: "Not sent", Text: "That is proved: no whole request has left the shop."}
	case ev.State == journal.Refused:
		return moment{Kind: "bad", Word: "Refused", Text: "The payment service says that it did not carry it out."}
	case ev.State == journal.PresumedAbsent:
		return moment{Kind: "bad", Word: "Not known", Text: "The payment service has not known the " + what + " for a day."}
	case ev.State == journal.Abandoned:
		return moment{Kind: "shop", Word: "Closed", Text: "The payment page was not finished in time."}
	case ev.State == journal.Succeeded && ev.Refund != nil:
		return moment{Kind: "good", Word: "Answered: refunded", Text: "The money was returned."}
	case ev.State == journal.Succeeded:
		return moment{Kind: "good", Word: "Answered: approved", Text: "The card was charged."}
	case ev.State == journal.Declined:
		return moment{Kind: "bad", Word: "Answered: declined", Text: "No money was moved."}
	case t != nil && t.State() == cardgateway.StateRedirect:
		return moment{Kind: "in", Word: "Answered: redirect", Text: "The payment page waits for the cardholder."}
	case t != nil && t.State() == cardgateway.StateDeclined:
		return moment{Kind: "bad", Word: "Answered: declined", Text: "One attempt on the payment page. No money was moved."}
	}
	return moment{Kind: "in", Word: "Answered: in processing", Text: "The payment service has accepted it, and has not finished it."}
}

// storyPage tells what happened to an order, large enough to be shown to others.
type storyPage struct {
	orderPage
	Charged int // with the sandbox: how often, by its ledger
}

// Title says what happened in a few words.
func (p storyPage) Title() string {
	lost := slices.ContainsFunc(p.Timeline, func(m moment) bool { return m.Kind == "lost" })
	if lost && p.State == payments.Paid && p.Charged == 1 && len(p.Refunds) == 0 {
		return "Charged. Answer lost. Resolved. Charged once."
	}
	return statusOf(p.Order).Title
}

func (s *Shop) showStory(w http.ResponseWriter, r *http.Request) error {
	o, err := s.ownOrder(w, r)
	if err != nil {
		return err
	}
	page := storyPage{orderPage: orderPage{Order: o}}
	if page.Timeline, err = s.timeline(r.Context(), o); err != nil {
		return err
	}
	for _, m := range page.Timeline {
		if m.Kind == "ledger" && m.Word == wordCharged {
			page.Charged++
		}
	}
	return s.render(w, r, http.StatusOK, "story", page)
}
