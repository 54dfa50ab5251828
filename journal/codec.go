package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// The JSON form of entries, for stores. Member names never change their meaning: a newer version must read what an
// older one wrote.

type intentJSON struct {
	Gateway       string    `json:"gateway,omitempty"`
	AppID         string    `json:"appId,omitempty"`
	TransactionID string    `json:"transactionId,omitempty"`
	OrderID       string    `json:"orderId,omitempty"`
	Operation     string    `json:"operation"`
	Amount        string    `json:"amount"`
	Currency      string    `json:"currency,omitempty"`
	At            time.Time `json:"at"`
	Sender        string    `json:"sender"`

	RefundTransactionID string `json:"refundTransactionId,omitempty"`
	UniqueID            string `json:"uniqueId,omitempty"`

	SubscriptionCycle cardgateway.SubscriptionCycle `json:"subscriptionCycle,omitempty"`
}

// MarshalJSON writes the amount as text with the decimals that it has, whatever the decimal package's globals say.
func (in Intent) MarshalJSON() ([]byte, error) { return json.Marshal(in.json()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (in *Intent) UnmarshalJSON(data []byte) error {
	var w intentJSON
	err := json.Unmarshal(data, &w)
	if err == nil {
		*in, err = w.intent()
	}
	return err
}

func (in *Intent) json() intentJSON {
	w := intentJSON{
		Gateway: in.Shop.Gateway, AppID: string(in.Shop.AppID), OrderID: in.OrderID, Operation: in.Operation,
		Amount: amountText(in.Amount), Currency: in.Currency, At: in.At.UTC(), Sender: in.Sender, UniqueID: in.UniqueID,
		SubscriptionCycle: in.SubscriptionCycle,
	}
	if in.ID.Refund {
		w.RefundTransactionID = in.ID.Text
	} else {
		w.TransactionID = in.ID.Text
	}
	return w
}

func (w *intentJSON) intent() (Intent, error) {
	amount, err := amountOf(w.Amount)
	in := Intent{
		Shop: Shop{w.Gateway, cardgateway.AppID(w.AppID)}, ID: PaymentID(w.TransactionID), Operation: w.Operation, Amount: amount,
		At: w.At, Sender: w.Sender, OrderID: w.OrderID, Currency: w.Currency, UniqueID: w.UniqueID,
		SubscriptionCycle: w.SubscriptionCycle,
	}
	if w.RefundTransactionID != "" {
		in.ID = RefundID(w.RefundTransactionID)
	}
	return in, err
}

type evidenceJSON struct {
	At          time.Time        `json:"at"`
	Source      Source           `json:"source"`
	State       State            `json:"state"`
	Submission  *intentJSON      `json:"submission,omitempty"`
	Sender      string           `json:"sender,omitempty"`
	Transaction *transactionJSON `json:"transaction,omitempty"`
	Refund      *refundJSON      `json:"refund,omitempty"`
	HTTPStatus  int              `json:"httpStatus,omitempty"`
	Code        cardgateway.Code `json:"code,omitempty"`
	Invalid     bool             `json:"invalid,omitempty"`
	Seen        bool             `json:"seen,omitempty"`
}

// MarshalJSON writes all that Evidence documents to be kept.
func (ev Evidence) MarshalJSON() ([]byte, error) { return json.Marshal(ev.json()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (ev *Evidence) UnmarshalJSON(data []byte) error {
	var w evidenceJSON
	err := json.Unmarshal(data, &w)
	if err == nil {
		*ev, err = w.evidence()
	}
	return err
}

func (ev *Evidence) json() evidenceJSON {
	w := evidenceJSON{
		At: ev.At.UTC(), Source: ev.Source, State: ev.State, Sender: ev.Sender, Transaction: jsonOf(ev.Transaction), Refund: jsonOfRefund(ev.Refund),
		HTTPStatus: ev.HTTPStatus, Code: ev.Code, Invalid: ev.Invalid, Seen: ev.Seen,
	}
	if ev.Submission != nil {
		in := ev.Submission.json()
		w.Submission = &in
	}
	return w
}

func (w *evidenceJSON) evidence() (Evidence, error) {
	t, err := w.Transaction.transaction()
	r, failed := w.Refund.refund()
	err = errors.Join(err, failed)
	ev := Evidence{
		At: w.At, Source: w.Source, State: w.State, Sender: w.Sender, Transaction: t, Refund: r,
		HTTPStatus: w.HTTPStatus, Code: w.Code, Invalid: w.Invalid, Seen: w.Seen,
	}
	if w.Submission != nil {
		in, failed := w.Submission.intent()
		ev.Submission, err = &in, errors.Join(err, failed)
	}
	if ev.State == Conflicting || ev.State == Tested {
		err = fmt.Errorf("journal: no evidence has the state %v", ev.State)
	}
	if !slices.Contains(sources, ev.Source) { // it could be another submission, in the words of a newer version
		err = fmt.Errorf("journal: no source is named %q", ev.Source)
	} else if !ev.complete() {
		err = fmt.Errorf("journal: evidence of source %q and state %v has no submission, transaction or refund", ev.Source, ev.State)
	}
	return ev, err
}

var sources = []Source{SourceSubmission, SourceAnswer, SourceQuery}

// complete reports whether evidence has the submission, transaction or refund that its source or state requires.
func (ev *Evidence) complete() bool {
	switch {
	case ev.Source == SourceSubmission:
		return ev.Submission != nil
	case ev.State == Pending || ev.State == Declined || ev.State == Succeeded:
		return !ev.result().isNothing()
	}
	return true
}

// MarshalText writes the state's name.
func (s State) MarshalText() ([]byte, error) {
	name, ok := statesInWords[s]
	if !ok {
		return nil, fmt.Errorf("journal: no state has the number %d", int(s))
	}
	return []byte(name.wire), nil
}

// UnmarshalText reads what MarshalText wrote.
func (s *State) UnmarshalText(text []byte) error {
	for state, name := range statesInWords {
		if name.wire == string(text) {
			*s = state
			return nil
		}
	}
	return fmt.Errorf("journal: no state is named %q", text)
}

type transactionJSON struct {
	Code          cardgateway.Code     `json:"code"`
	UniqueID      string               `json:"uniqueId,omitempty"`
	TransactionID string               `json:"transactionId,omitempty"`
	Amount        string               `json:"amount,omitempty"`
	Currency      string               `json:"currency,omitempty"`
	Timestamp     time.Time            `json:"timestamp,omitzero"`
	At            cardgateway.WallTime `json:"transactionAt,omitzero"`
	IsTest        bool                 `json:"isTest,omitempty"`
	Is3D          *bool                `json:"is3d,omitempty"`
	RedirectURL   string               `json:"redirectUrl,omitempty"`
}

func jsonOf(t *cardgateway.Transaction) *transactionJSON {
	if t == nil {
		return nil
	}
	return &transactionJSON{
		Code: t.Code, UniqueID: t.UniqueID, TransactionID: t.TransactionID, Amount: amountText(t.TransactionAmount),
		Currency: t.TransactionCurrency, At: t.TransactionAt, IsTest: t.IsTest, Is3D: t.Is3D, RedirectURL: t.RedirectURL,
		Timestamp: t.Timestamp.UTC(),
	}
}

func (w *transactionJSON) transaction() (*cardgateway.Transaction, error) {
	if w == nil {
		return nil, nil
	}
	amount, err := amountOf(w.Amount)
	t := &cardgateway.Transaction{
		Code: w.Code, UniqueID: w.UniqueID, TransactionID: w.TransactionID, TransactionAmount: amount,
		TransactionCurrency: w.Currency, TransactionAt: w.At, IsTest: w.IsTest, Is3D: w.Is3D, RedirectURL: w.RedirectURL,
		Timestamp: w.Timestamp,
	}
	return t, err
}

type refundJSON struct {
	Code                cardgateway.Code     `json:"code"`
	UniqueID            string               `json:"uniqueId,omitempty"`
	RefundTransactionID string               `json:"refundTransactionId,omitempty"`
	RefundUniqueID      string               `json:"refundUniqueId,omitempty"`
	Amount              string               `json:"refundAmount,omitempty"`
	Currency            string               `json:"refundCurrency,omitempty"`
	Timestamp           time.Time            `json:"timestamp,omitzero"`
	RequestAt           cardgateway.WallTime `json:"refundRequestAt,omitzero"`
	At                  cardgateway.WallTime `json:"refundAt,omitzero"`
}

func jsonOfRefund(r *cardgateway.Refund) *refundJSON {
	if r == nil {
		return nil
	}
	return &refundJSON{
		Code: r.Code, UniqueID: r.UniqueID, RefundTransactionID: r.MerchantRefundID, RefundUniqueID: r.RefundUniqueID,
		Amount: amountText(r.RefundAmount), Currency: r.RefundCurrency, Timestamp: r.Timestamp.UTC(),
		RequestAt: r.RefundRequestAt, At: r.RefundAt,
	}
}

func (w *refundJSON) refund() (*cardgateway.Refund, error) {
	if w == nil {
		return nil, nil
	}
	amount, err := amountOf(w.Amount)
	r := &cardgateway.Refund{
		Code: w.Code, UniqueID: w.UniqueID, MerchantRefundID: w.RefundTransactionID, RefundUniqueID: w.RefundUniqueID,
		RefundAmount: amount, RefundCurrency: w.Currency, RefundRequestAt: w.RequestAt, RefundAt: w.At, Timestamp: w.Timestamp,
	}
	return r, err
}

// amountText writes an amount with the decimals that it has.
func amountText(d decimal.Decimal) string { return string(wire.AppendDecimal(nil, d)) }

func amountOf(text string) (decimal.Decimal, error) {
	const maxLength = 32 // characters; more than amountText writes for any amount that is recordable
	if len(text) > maxLength {
		return decimal.Decimal{}, fmt.Errorf("journal: the amount has %d characters, at most %d are allowed", len(text), maxLength)
	}
	return decimal.NewFromString(text)
}
