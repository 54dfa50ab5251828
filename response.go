package cardgateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/internal/transport"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// attemptResult is what one attempt observed: facts, no decisions.
type attemptResult struct {
	transport.Response
	localErr   error         // set if this side refused: the context, the limiter or the hook
	retryAfter time.Duration // what the gateway asked for, at most RetryPolicy.MaxWait
	code       Code          // of the response, once it has been decoded
}

// failure is the reason why no usable response came, or nil.
func (r *attemptResult) failure() error {
	if r.localErr != nil {
		return r.localErr
	}
	return r.Err
}

// hint says where to look if the response is none of the gateway's own.
func (r *attemptResult) hint() string { return verdict.Hint(r.Status, r.Body) }

// response is what could be decoded of a transaction result: the result itself, and what its zero values do not tell.
type response struct {
	*Transaction
	hasAmount   bool
	badRedirect bool       // there is a redirectUrl to which nobody should be sent
	bad         *badMember // the first essential member that could not be read
}

// badMember names a member without which a response or a row cannot be used.
type badMember struct{ name, reason string }

func (m *badMember) err() error {
	if m == nil {
		return nil
	}
	return fmt.Errorf("the response's %s %s", m.name, m.reason)
}

var errNotObject = errors.New("the response is not a JSON object")

// decodeTransaction reads the one JSON object of a response to a payment or to a single query.
func decodeTransaction(data []byte) (response, error) {
	d := newDecoder(data)
	defer d.Release()
	if d.Peek() != '{' {
		return response{}, errNotObject
	}
	decoded := d.transaction(new(Transaction))
	if err := d.Finish(); err != nil {
		return response{}, fmt.Errorf("the response %w", err)
	}
	return decoded, nil
}

// decoder reads results and pages.
type decoder struct {
	*wire.Reader
	spare []optionalParts // made and not used yet
	batch int             // how many are made at once
}

func newDecoder(data []byte) decoder { return decoder{Reader: wire.NewReader(data), batch: 1} }

// optionalParts holds what a Transaction points to.
type optionalParts struct {
	address Address
	is3D    bool
}

// parts returns p, or new parts if it is nil. Those of the rows of a page are made several at once: one allocation in
// place of many.
func (d *decoder) parts(p *optionalParts) *optionalParts {
	if p != nil {
		return p
	}
	if len(d.spare) == 0 {
		d.spare = make([]optionalParts, d.batch)
	}
	p, d.spare = &d.spare[0], d.spare[1:]
	return p
}

// transactionRow reads one row of an order query.
func transactionRow(d *decoder, t *Transaction) *badMember { return d.transaction(t).bad }

// transaction reads a transaction result. A member whose value has the wrong form is kept in Extra as sent; if it is
// essential to what the response means, the result names it.
func (d *decoder) transaction(t *Transaction) (decoded response) {
	decoded.Transaction = t
	var parts *optionalParts // of this transaction, once it needs them
	for name := range d.Members {
		start := d.Pos()
		var ok, essential bool
		reason := "cannot be read"
		switch string(name) {
		case "code":
			essential = true
			ok = d.code(&t.Code)
		case "message":
			ok = d.Message(&t.Message)
		case "isTest":
			ok, _ = d.Bool(&t.IsTest)
		case "appId":
			ok = d.Digits((*string)(&t.AppID), maxAppID)
		case "uniqueId":
			essential, reason = true, "is not a number of at most 128 digits"
			ok = d.uniqueID(&t.UniqueID)
		case "transactionId":
			essential, reason = true, "is not a text of at most 255 characters"
			ok = d.ID(&t.TransactionID)
		case "billDescription":
			ok = d.Message(&t.BillDescription)
		case "timestamp":
			ok = d.Instant(&t.Timestamp)
		case "transactionAmount":
			essential, reason = true, "is not an amount of at most 12 digits and 3 decimals"
			ok, decoded.hasAmount = d.Amount(&t.TransactionAmount)
		case "transactionCurrency":
			essential = true
			ok = d.ID(&t.TransactionCurrency)
		case "transactionAt":
			ok = d.wallTime(&t.TransactionAt)
		case "transactionCardNumber":
			ok = d.MaskedCardNumber((*string)(&t.TransactionCardNumber))
		case "transactionMessage":
			ok = d.Message(&t.TransactionMessage)
		case "transactionMethod":
			ok = d.Text((*string)(&t.TransactionMethod))
		case "transactionType":
			ok = d.Text((*string)(&t.TransactionType))
		case "is3d":
			parts = d.parts(parts)
			var said bool
			if ok, said = d.Bool(&parts.is3D); said {
				t.Is3D = &parts.is3D
			}
		case "redirectUrl":
			ok = d.URL(&t.RedirectURL)
			decoded.badRedirect = !ok
		case "billingAddress":
			if d.Peek() == '{' {
				parts = d.parts(parts)
				t.BillingAddress = &parts.address
				d.address(t.BillingAddress)
				ok = true
			} else {
				ok = d.Value().Kind == wire.Null
			}
		default:
			d.Value()
		}
		if !ok {
			d.keep(&t.Extra, name, start)
			if essential && decoded.bad == nil {
				decoded.bad = &badMember{string(name), reason}
			}
		}
	}
	d.StoreTexts()
	return decoded
}

// refundRow reads one row of a refund query.
func refundRow(d *decoder, r *Refund) (bad *badMember) {
	var named bool // the merchant's id has come by the interface's own name
	for name := range d.Members {
		start := d.Pos()
		var ok, essential bool
		switch string(name) {
		case "code":
			essential = true
			ok = d.code(&r.Code)
		case "message":
			ok = d.Message(&r.Message)
		case "timestamp":
			ok = d.Instant(&r.Timestamp)
		case "merchantRefundId":
			essential = true
			ok = d.ID(&r.MerchantRefundID)
			named = !ok || d.HasPending(&r.MerchantRefundID)
		case "refundTransactionId": // published as another name of the same, not in the interface
			if named {
				d.Value()
				break
			}
			essential = true
			ok = d.ID(&r.MerchantRefundID)
		case "uniqueId":
			essential = true
			ok = d.uniqueID(&r.UniqueID)
		case "refundUniqueId":
			essential = true
			ok = d.ID(&r.RefundUniqueID)
		case "refundCurrency":
			essential = true
			ok = d.ID(&r.RefundCurrency)
		case "refundAmount":
			essential = true
			ok, _ = d.Amount(&r.RefundAmount)
		case "refundRequestAt":
			ok = d.wallTime(&r.RefundRequestAt)
		case "refundAt":
			ok = d.wallTime(&r.RefundAt)
		default:
			d.Value()
		}
		if !ok {
			d.keep(&r.Extra, name, start)
			if essential && bad == nil {
				bad = &badMember{string(name), "cannot be read"}
			}
		}
	}
	d.StoreTexts()
	return bad
}

func (d *decoder) address(a *Address) {
	var unknown map[string]json.RawMessage
	for name := range d.Members {
		start := d.Pos()
		var ok bool
		switch string(name) {
		case "firstName":
			ok = d.Text(&a.FirstName)
		case "lastName":
			ok = d.Text(&a.LastName)
		case "country":
			ok = d.Text(&a.Country)
		case "email":
			ok = d.Text(&a.Email)
		case "city":
			ok = d.Text(&a.City)
		case "address":
			ok = d.Text(&a.Address)
		case "phone":
			ok = d.Text(&a.Phone)
		case "state":
			ok = d.Text(&a.State)
		case "zipCode":
			ok = d.Text(&a.ZipCode)
		default:
			d.Value()
		}
		if !ok {
			d.keep(&unknown, name, start)
		}
	}
	if len(unknown) > 0 {
		a.Extra = make(map[string]any, len(unknown))
		for name, raw := range unknown {
			a.Extra[name] = raw
		}
	}
}

func (d *decoder) code(dst *Code) bool {
	const maxDigits = 9
	n, _, ok := d.Int(maxDigits)
	*dst = Code(n)
	return ok
}

// uniqueID reads the gateway's id. It is digits only: as an element of a path, other text could name another endpoint.
func (d *decoder) uniqueID(dst *string) bool { return d.Digits(dst, maxID) }

func (d *decoder) wallTime(dst *WallTime) bool {
	s, ok := d.Scalar()
	if !ok || s.Null {
		return ok
	}
	*dst, ok = parseWallTime(s.Text)
	return ok
}

// keep stores the value that was read from start on under its name, as it was sent.
func (d *decoder) keep(extra *map[string]json.RawMessage, name []byte, start int) {
	if d.Failed() {
		return
	}
	if *extra == nil {
		*extra = make(map[string]json.RawMessage)
	}
	raw := json.RawMessage(d.Raw(start))
	if string(name) == "transactionCardNumber" { // in a form that cannot be read, and so not be masked
		raw = redact.WithheldValue()
	}
	(*extra)[string(name)] = raw
}

// decodePage reads a page envelope and, with row, each row of its data; number is the page's, for the errors. A row that
// cannot be read costs only itself: it is left out of the page and reported in rowErrors.
func decodePage[T any](data []byte, number int, row func(*decoder, *T) *badMember) (p *Page[T], rowErrors []error, err error) {
	d := newDecoder(data)
	defer d.Release()
	if d.Peek() != '{' {
		return nil, nil, errNotObject
	}
	p = new(Page[T])
	var bad *badMember
	var saysRows bool // how many there are, or which
	var reason string // where the gateway refuses
	for name := range d.Members {
		var ok, said bool
		switch string(name) {
		case "code":
			ok = d.code(&p.Code)
		case "message":
			ok = d.Message(&p.Message)
		case "transactionMessage":
			d.Message(&reason)
			ok = true
		case "timestamp":
			d.Instant(&p.Timestamp) // nothing depends on it
			ok = true
		case "currPage":
			ok, _ = d.Count(&p.CurrPage)
		case "pageSize":
			ok, _ = d.Count(&p.PageSize)
		case "totalCount":
			ok, said = d.Count(&p.TotalCount)
		case "totalPage":
			ok, said = d.Count(&p.TotalPage)
			said = said && p.TotalPage == 0 // no page, so no row
		case "data":
			if ok = d.Peek() == '['; ok {
				said = true
				p.Data, rowErrors = decodeRows(&d, number, min(p.PageSize, p.TotalCount), row)
			} else {
				ok = d.Value().Kind == wire.Null
			}
		default:
			d.Value()
			ok = true
		}
		saysRows = saysRows || said
		if !ok && bad == nil {
			bad = &badMember{string(name), "cannot be read"}
		}
	}
	if err := d.Finish(); err != nil {
		return nil, nil, fmt.Errorf("the response %w", err)
	}
	if p.Code != CodeSearchSuccess {
		p.Message = joinMessages(p.Message, reason)
	}
	if bad == nil && p.Code == CodeSearchSuccess && !saysRows {
		bad = &badMember{"totalCount", "is missing, and so is data"}
	}
	if bad != nil {
		return nil, nil, bad.err()
	}
	return p, rowErrors, nil
}

// joinMessages puts together what the gateway says of a failure: the first text often names only the kind of failure,
// and the second the reason.
func joinMessages(message, transactionMessage string) string {
	if message == "" || transactionMessage == "" || message == transactionMessage {
		return cmp.Or(message, transactionMessage)
	}
	return message + ": " + transactionMessage
}

var errRows = fmt.Errorf("has more than %d rows", maxPageSize)

// decodeRows reads the rows of a page, of which the envelope has announced so many. There may be more than were asked
// for: an older edition of the interface has no pageSize.
func decodeRows[T any](d *decoder, number, announced int, row func(*decoder, *T) *badMember) (rows []T, rowErrors []error) {
	const shortestRow = 100 // bytes: an announcement alone makes nobody allocate
	rows = make([]T, 0, max(0, min(announced, maxPageSize, d.Remaining()/shortestRow)))
	d.batch = 16
	for i := range d.Elements {
		if i == maxPageSize {
			d.Fail(errRows)
			break
		}
		bad := &badMember{"data", "is not an object"}
		if d.Peek() == '{' {
			rows = append(rows, *new(T))
			if bad = row(d, &rows[len(rows)-1]); bad == nil {
				continue
			}
			rows = rows[:len(rows)-1]
		} else {
			d.Value()
		}
		rowErrors = append(rowErrors, &RowError{Page: number, Row: i + 1, Member: bad.name, Reason: bad.reason})
	}
	return rows, rowErrors
}
