package cardgateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/check"
	"github.com/cardgateway/cardgateway-go/internal/resolve"
	"github.com/cardgateway/cardgateway-go/internal/transport"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// Refunds and tracking numbers. These operations are published by gateways, and not part of the interface.

var opCreateRefund = Operation{Name: "CreateRefund", Method: "POST", PathTemplate: "/api/refund", Payment: true}

// RefundRequest refunds a payment (published, not in the interface). Fields are required unless marked optional; lengths
// are in characters. The amount is in the currency of the payment.
type RefundRequest struct {
	UniqueID            string          // the gateway's id of the payment: digits, at most 128
	RefundTransactionID string          // the merchant's id of the refund, unique, at most 128
	Amount              decimal.Decimal // above zero, at most 12 digits, of them at most 3 decimals
	Remark              string          // optional, at most 255
	Extra               map[string]any  // optional; members that are not published
}

// CreateRefund refunds a payment, fully or in part. No gateway publishes whether it rejects a RefundTransactionID that was
// used before: a refund that is sent twice may be paid out twice. A refund is therefore sent at most once, like a payment,
// and has the same outcomes.
//
// Without an error, the refund is accepted (StateProcessing, code 110) or already made (StateApproved, 111); see
// Refund.Refunded. The result of an accepted refund comes from a notification, SearchRefunds or ResolveRefund.
//
// Errors are those of every payment operation; see the package comment. ErrDeclined means that the gateway declined it for
// good (112), for example because the amount exceeds the payment's. After ErrOutcomeUnknown the refund may have been made:
// use ResolveRefund, and do not call again.
func (c *Client) CreateRefund(ctx context.Context, req RefundRequest) (r *Refund, err error) {
	e := c.newEncoder('{')
	req.encode(e)
	op := opCreateRefund
	op.UniqueID, op.RefundTransactionID = req.UniqueID, req.RefundTransactionID
	call, err := c.newPayment(ctx, op, e, decodeRefund)
	if err != nil {
		return nil, err
	}
	defer func() { // as in pay
		r, err = req.classify(call)
		r.mask(call.secrets.masker(err != nil))
		if r != nil {
			defer c.learnZone(ctx, r.RefundRequestAt.civil(), call.observed.begun, time.Now(), r.Timestamp, false)
			r.Raw = call.raw()
		}
		_ = call.end(outcomeName(r, err), err)
	}()
	call.submit(ctx)
	return r, err
}

func (req *RefundRequest) encode(e *encoder) {
	e.uniqueID(req.UniqueID)
	e.id("refundTransactionId", req.RefundTransactionID)
	e.amount(req.Amount, "") // the payment's currency is not known here
	e.text("remark", req.Remark, optional, maxRemark)
	e.extra(req.Extra, refundMembers)
}

var refundMembers = []string{"uniqueId", "refundTransactionId", "merchantRefundId", "amount", "remark"}

// classify turns the facts of the last attempt into the one outcome of a refund, as for a payment.
func (req *RefundRequest) classify(c *call) (*Refund, error) {
	var r *Refund
	var says verdict.Statement
	if c.last.failure() == nil {
		r = c.decoded.refund
		if says.Unreadable = c.decoded.unreadable; r != nil {
			c.last.code = r.Code
			says = req.statement(r, c.decoded.bad, c.client.onlyAppID())
		}
	}
	v, cause := c.last.judge(&says)
	switch v {
	case verdict.Accepted:
		return r, nil
	case verdict.WasDeclined:
		return r, &RefundDeclinedError{Op: c.op.Name, RefundTransactionID: req.RefundTransactionID, Refund: r}
	case verdict.Unknown:
		return nil, &RefundUnknownError{
			Op: c.op.Name, UniqueID: req.UniqueID, RefundTransactionID: req.RefundTransactionID, Amount: req.Amount,
			SentAt: c.observed.begun, Refund: r, Cause: cause,
			Seen: says.Shows() && (r.MerchantRefundID == req.RefundTransactionID ||
				r.UniqueID == req.UniqueID && r.RefundAmount.Equal(req.Amount) &&
					resolve.RefundAlike(req.RefundTransactionID, r.MerchantRefundID, r.Extra)),
		}
	}
	var message string
	if r != nil {
		message = r.Message
	}
	return nil, c.last.notProcessed(v, c.op.Name, req.RefundTransactionID, message, cause)
}

// statement says what a decoded response claims, compared with what was sent.
func (req *RefundRequest) statement(r *Refund, bad *badMember, app AppID) verdict.Statement {
	said := r.RefundAmount != decimal.Decimal{}
	var contradiction error
	switch {
	case r.StatesOtherApp(app):
		contradiction = verdict.ErrOtherApp
	case r.MerchantRefundID != "" && r.MerchantRefundID != req.RefundTransactionID,
		r.UniqueID != "" && r.UniqueID != req.UniqueID, said && !r.RefundAmount.Equal(req.Amount):
		contradiction = verdict.ErrNotOurs
	}
	return verdict.Statement{
		Code: int(r.Code), State: verdict.State(r.State()), Refuses: isRefusalCode(r.Code), Bad: bad.err(),
		HasMerchantID: r.MerchantRefundID != "",
		Contradicts:   contradiction,
		NamesNothing:  r.MerchantRefundID == "" && r.RefundUniqueID == "" && !said,
		HasGatewayID:  r.RefundUniqueID != "",
	}
}

// ResolveRefundQuery identifies a refund whose outcome is unknown, or that is in processing; RefundUnknownError.Query
// returns one. All fields but Wait, Seen and SentAgain are required.
type ResolveRefundQuery struct {
	UniqueID            string
	RefundTransactionID string
	Amount              decimal.Decimal
	SentAt              time.Time     // a time before the refund was sent for the first time, and close to it
	Wait                time.Duration // how long to query, from the start of the call; zero means 2 min; at least one search is made
	Seen                bool          // the gateway has returned the refund before: it is never reported as not found
	SentAgain           bool          // it may have been sent more than once: then a decline is not final, as with Resolve
}

// Query returns the query with which ResolveRefund finds this outcome.
func (e *RefundUnknownError) Query() ResolveRefundQuery {
	return ResolveRefundQuery{
		UniqueID: e.UniqueID, RefundTransactionID: e.RefundTransactionID, Amount: e.Amount, SentAt: e.SentAt, Seen: e.Seen,
		SentAgain: e.SentAgain,
	}
}

// ResolveRefund finds the unknown outcome of a refund, as Resolve does for a payment: it queries the refunds of the
// payment, and considers only rows with exactly these ids and this amount.
//
// It returns the refund (in processing, code 110, only after Wait), a *RefundDeclinedError, a *RefundConflictError
// (refunded twice), ErrNotFound, or again a *RefundUnknownError. A *ValidationError says that q is invalid, and that nothing was
// queried.
func (c *Client) ResolveRefund(ctx context.Context, q ResolveRefundQuery) (r *Refund, err error) {
	if err := q.check(ctx); err != nil {
		return nil, err
	}
	secrets := new(callSecrets) // of the last query
	observed := c.newObservation(ctx, &Operation{Name: "ResolveRefund", UniqueID: q.UniqueID, RefundTransactionID: q.RefundTransactionID})
	found := resolve.Result[Refund]{Cause: errPanicked} // if a query or the observer panics
	defer func() {
		r, err = q.outcome(&found)
		r.mask(secrets.masker(err != nil))
		secrets.complete(err, "", nil)
		info := CallInfo{Outcome: outcomeName(r, err), Err: err}
		if r != nil {
			info.Code = r.Code
			defer c.learnZone(ctx, r.RefundRequestAt.civil(), q.SentAt, time.Now(), r.Timestamp, false)
		}
		observed.end(info)
	}()
	found = resolve.Run(within(observed.begin()), &resolve.Config[Refund]{
		SentAt: q.SentAt, Wait: q.Wait, Seen: q.Seen, SentAgain: q.SentAgain,
		Search: func(ctx context.Context, start, end time.Time, page int) (*resolve.Page[Refund], error) {
			refunds := RefundQuery{UniqueID: q.UniqueID, Start: start, End: end}
			p, err := runSearch(ctx, c, opSearchRefunds, refunds.search(time.UTC, PageRequest{CurrPage: page}), refundRow)
			secrets = cmp.Or(p.secrets, secrets)
			return resolvePage(p, err)
		},
		Row: func(r *Refund) resolve.Row {
			return resolve.Row{
				ID:        r.MerchantRefundID + " " + r.rowID(), // two refunds can have the same id
				Generated: r.RefundUniqueID == "", At: r.RefundRequestAt.civil(), Code: int(r.Code), State: verdict.State(r.State()),
				Ours:     r.MerchantRefundID == q.RefundTransactionID && r.UniqueID == q.UniqueID,
				Alike:    r.UniqueID == q.UniqueID && resolve.RefundAlike(q.RefundTransactionID, r.MerchantRefundID, r.Extra),
				OtherApp: c.IsOtherApp(r),
				Agrees:   r.RefundAmount.Equal(q.Amount),
				Expected: r.UniqueID == q.UniqueID && r.MerchantRefundID != "", // another refund of the payment
			}
		},
		NotFinal: func(declined []Refund) error { return severalDeclined(len(declined)) },
	})
	return r, err
}

func (q *ResolveRefundQuery) check(ctx context.Context) error {
	var v violations
	v.Context(ctx)
	v.uniqueID(q.UniqueID)
	if v.Require("refundTransactionId", q.RefundTransactionID != "", required) {
		v.ID("refundTransactionId", q.RefundTransactionID, maxID)
	}
	if v.Require("amount", q.Amount != decimal.Decimal{}, required) {
		v.Amount("amount", check.WithoutZeros(q.Amount, ""))
	}
	v.sentAt(q.SentAt)
	v.AddIf(q.Wait < 0, "Wait", RuleRange, "must not be negative")
	return withID(v.err("ResolveRefund"), q.RefundTransactionID)
}

// outcome converts what was found to a result of this package.
func (q *ResolveRefundQuery) outcome(found *resolve.Result[Refund]) (*Refund, error) {
	const op = "ResolveRefund"
	switch found.Finding {
	case resolve.Found:
		return found.Row, nil
	case resolve.Declined:
		return found.Row, &RefundDeclinedError{Op: op, RefundTransactionID: q.RefundTransactionID, Refund: found.Row}
	case resolve.Conflict:
		return nil, &RefundConflictError{RefundTransactionID: q.RefundTransactionID, Refunds: found.Rows}
	case resolve.Absent:
		return nil, fmt.Errorf("cardgateway: %s: refund %s: %w", op, quoted(q.RefundTransactionID), ErrNotFound)
	}
	return nil, &RefundUnknownError{
		Op: op, UniqueID: q.UniqueID, RefundTransactionID: q.RefundTransactionID, Amount: q.Amount, SentAt: q.SentAt,
		Seen: found.Seen, SentAgain: q.SentAgain, Refund: found.Row, Cause: found.Cause,
	}
}

var opUploadTrackingNumbers = Operation{Name: "UploadTrackingNumbers", Method: "POST", PathTemplate: "/upload/trackingNumber"}

var errNoCode = errors.New("the response has no code")

// Shipment is the tracking number of one paid order (published, not in the interface). Lengths are in characters.
type Shipment struct {
	UniqueID string         // required: the gateway's id of the payment, digits, at most 128
	Company  string         // required: the carrier, at most 255
	Number   string         // optional: the tracking number; only in the published example
	Remark   string         // optional, at most 255
	Extra    map[string]any // optional; members that are not published
}

// UploadTrackingNumbers sends the tracking numbers of 1 to 99 shipments. A later upload for the same payment replaces the
// earlier one, so the call is retried like a query, and may be made again after any error.
//
// Errors: *ValidationError; *RefusedError if the gateway says that it did not take them; *QueryError if no usable response
// came.
func (c *Client) UploadTrackingNumbers(ctx context.Context, shipments []Shipment) error {
	const maxShipments = 99
	e := c.newEncoder('[')
	e.check.AddIf(len(shipments) == 0 || len(shipments) > maxShipments, "shipments", RuleLength, "has %d entries, 1 to %d are allowed", len(shipments), maxShipments)
	for i := range shipments {
		e.item("shipments", i, func() { shipments[i].encode(e) })
	}
	e.check.Context(ctx)
	body, err := e.finish(opUploadTrackingNumbers.Name)
	if err != nil {
		return err
	}
	call := c.newQuery(opUploadTrackingNumbers, "", nil)
	call.body, call.limit = body, transport.MaxPayment
	decoded, err := ask(ctx, call, func(body []byte) (response, error) {
		decoded, err := call.decodeSingle(body)
		if err == nil && decoded.Code == 0 {
			err = cmp.Or(decoded.bad.err(), errNoCode)
		}
		return decoded, err
	})
	if err == nil && decoded.Code != CodeUploadSuccess {
		err = call.failed(joinMessages(decoded.Message, decoded.TransactionMessage), nil)
	}
	if no, ok := errors.AsType[*QueryError](err); ok &&
		(no.HTTPStatus == http.StatusOK && no.Cause == nil || verdict.IsRefusalStatus(no.HTTPStatus) && no.HTTPStatus != http.StatusTooManyRequests) {
		err = &RefusedError{
			Op: no.Op, HTTPStatus: no.HTTPStatus, Code: no.Code, Message: no.Message, RetryAfter: no.RetryAfter, hint: call.last.hint(),
		}
	}
	return call.endQuery(err)
}

func (s *Shipment) encode(e *encoder) {
	e.uniqueID(s.UniqueID)
	e.text("company", s.Company, required, maxRemark)
	e.text("number", s.Number, optional, noLimit)
	e.text("remark", s.Remark, optional, maxRemark)
	e.extra(s.Extra, shipmentMembers)
}

var shipmentMembers = []string{"uniqueId", "company", "number", "remark"}
