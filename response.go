package cardgateway

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/envelope"
	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/internal/transport"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
	"github.com/cardgateway/cardgateway-go/internal/walk"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// attemptResult is the result of one attempt: facts, no decisions.
type attemptResult struct {
	transport.Response
	at         time.Time     // the middle of the attempt
	localErr   error         // set if the context, the limiter or the hook ended the attempt
	retryAfter time.Duration // requested by the gateway
	code       Code          // of the response, once it has been decoded
}

// failure returns why there was no usable response, or nil.
func (r *attemptResult) failure() error {
	if r.localErr != nil {
		return r.localErr
	}
	return r.Err
}

// clockReading is how far this machine's clock is from those that a response shows: the gateway's timestamp and the Date of its server.
// Without a Date nothing is sure, because a timestamp alone may be that of something else.
type clockReading struct {
	known    bool          // the response shows one of them
	ahead    time.Duration // of the one that is further away
	surely   time.Duration // ahead of the later one: what was made later than that is not in the response
	fromDate time.Duration // from the Date, in either direction; zero without one
}

// clock reads the clocks of the response.
func (r *attemptResult) clock(timestamp time.Time) (c clockReading) {
	date, err := http.ParseTime(r.Header.Get("Date"))
	for _, shown := range []time.Time{date, timestamp} {
		if shown.IsZero() {
			continue
		}
		if apart := r.at.Sub(shown); apart.Abs() >= c.ahead.Abs() {
			c.ahead = apart
		}
		c.known = true
	}
	if err == nil {
		c.surely, c.fromDate = min(r.at.Sub(date), r.at.Sub(timestamp)), r.at.Sub(date).Abs()
	}
	return c
}

// hint says what to check if the response does not come from the gateway.
func (r *attemptResult) hint() string { return verdict.Hint(r.Status, r.Body) }

// response is a decoded transaction result, with facts that its zero values do not express.
type response struct {
	*Transaction
	hasAmount   bool
	badCurrency bool       // transactionCurrency does not have the form of one: it is in Extra
	badRedirect bool       // redirectUrl is not a URL to which a cardholder may be redirected
	bad         *badMember // the first essential member that could not be read
}

// badMember names an unreadable member without which a response or a row cannot be used.
type badMember struct{ name, reason string }

func (m *badMember) err() error {
	if m == nil {
		return nil
	}
	return fmt.Errorf("the response's %s %s", m.name, m.reason)
}

var errNotObject = errors.New("the response is not a JSON object")

// decodeTransaction reads the response to a payment or to a single query.
func decodeTransaction(data []byte) (decoded response, err error) {
	err = decodeObject(data, func(d decoder) { decoded = d.transaction(new(Transaction)) })
	if err != nil {
		return response{}, err
	}
	return decoded, nil
}

// decodedResponse is the decoded response to a payment or to a refund.
type decodedResponse struct {
	payment    response   // with a nil *Transaction if it is not to a payment, or is unreadable
	refund     *Refund    // nil if it is not to a refund, or is unreadable
	bad        *badMember // of the refund: the first essential member that could not be read
	unreadable error
}

// states returns the merchant's id, of the payment or the refund, and what the code means.
func (d *decodedResponse) states() (id string, s State) {
	if t := d.payment.Transaction; t != nil {
		return t.TransactionID, t.State()
	}
	if d.refund != nil {
		return d.refund.MerchantRefundID, d.refund.State()
	}
	return "", StateUnknown
}

// decodePayment reads the response to a payment.
func decodePayment(data []byte) (d decodedResponse) {
	d.payment, d.unreadable = decodeTransaction(data)
	return d
}

// decodeRefund reads the response to a refund.
func decodeRefund(data []byte) (d decodedResponse) {
	r := new(Refund)
	if d.unreadable = decodeObject(data, func(decode decoder) { d.bad = refundRow(decode, r) }); d.unreadable == nil {
		d.refund = r
	}
	return d
}

// decodeObject reads a response that is one JSON object.
func decodeObject(data []byte, read func(decoder)) error {
	d := newDecoder(data)
	defer d.Release()
	if d.Peek() != '{' {
		return errNotObject
	}
	read(d)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("the response %w", err)
	}
	return nil
}

// decoder reads results and pages.
type decoder struct{ *wire.Reader }

func newDecoder(data []byte) decoder { return decoder{wire.NewReader(data)} }

// transactionRow reads one row of an order query.
func transactionRow(d decoder, t *Transaction) *badMember { return d.transaction(t).bad }

// timedTransactionRow also requires that a time can be read: a row without one would be in every range.
func timedTransactionRow(d decoder, t *Transaction) *badMember {
	return timed(transactionRow(d, t), t.Extra, "transactionAt")
}

// timedRefundRow does the same for a refund.
func timedRefundRow(d decoder, r *Refund) *badMember {
	return timed(refundRow(d, r), r.Extra, "refundRequestAt", "refundAt")
}

// timed returns what is wrong with a row: bad, or the first of its times that could not be read.
func timed(bad *badMember, extra map[string]json.RawMessage, times ...string) *badMember {
	for _, name := range times {
		if extra[name] != nil && bad == nil {
			bad = &badMember{name, "is not a date and time without a zone"}
		}
	}
	return bad
}

// transaction reads a transaction result. A member whose value has the wrong format is kept in Extra as received; if it
// is essential for the meaning of the response, the result names it.
func (d decoder) transaction(t *Transaction) (decoded response) {
	decoded.Transaction = t
	parts := new(struct { // what it may point to, in one allocation
		address Address
		is3D    bool
	})
	decoded.bad = d.object(&t.Extra, func(name []byte) (ok bool, essential string) {
		switch string(name) {
		case "code":
			return d.code(&t.Code), unreadable
		case "message":
			ok = d.Message(&t.Message)
		case memberIsTest:
			ok = d.testMark(t)
		case "appId":
			ok = d.AppID((*string)(&t.AppID))
		case "uniqueId":
			return d.UniqueID(&t.UniqueID), "is not a number of at most 128 digits"
		case "transactionId":
			return d.ID(&t.TransactionID), "is not a text of at most 255 characters"
		case "billDescription":
			ok = d.Message(&t.BillDescription)
		case "timestamp":
			ok = d.Instant(&t.Timestamp)
		case "transactionAmount":
			ok, decoded.hasAmount = d.Amount(&t.TransactionAmount)
			return ok, "is not an amount of at most 12 digits and 3 decimals"
		case "transactionCurrency":
			var isText bool
			if ok, isText = d.Currency(&t.TransactionCurrency); !isText {
				return false, unreadable
			}
			decoded.badCurrency = !ok
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
			var said bool
			if ok, said = d.Bool(&parts.is3D); said {
				t.Is3D = &parts.is3D
			}
		case redact.URLMember:
			ok = d.URL(&t.RedirectURL)
			decoded.badRedirect = !ok
		case "billingAddress":
			if d.Peek() == '{' {
				t.BillingAddress = &parts.address
				d.address(t.BillingAddress)
				ok = true
			} else {
				ok = d.Value().Kind == wire.Null
			}
		default:
			if isTestMark(string(name)) {
				ok = d.testMark(t)
			} else {
				d.Value()
			}
		}
		return ok, ""
	})
	if decoded.bad == nil && t.Code == CodeSuccess && t.hasUnreadTest() { // it may be money, or none
		decoded.bad = &badMember{memberIsTest, "is neither true nor false"}
	}
	return decoded
}

// testMark reads isTest. A transaction that is marked once is a test.
func (d decoder) testMark(t *Transaction) bool {
	var marked bool
	ok, _ := d.Bool(&marked)
	t.IsTest = t.IsTest || marked
	return ok
}

// refundRow reads one row of a refund query.
func refundRow(d decoder, r *Refund) *badMember {
	var named bool // the merchant's id was given under the interface's name
	return d.object(&r.Extra, func(name []byte) (ok bool, essential string) {
		switch string(name) {
		case "code":
			return d.code(&r.Code), unreadable
		case "message":
			ok = d.Message(&r.Message)
		case "timestamp":
			ok = d.Instant(&r.Timestamp)
		case "merchantRefundId":
			second := r.MerchantRefundID // under the other name, which came before
			ok = d.ID(&r.MerchantRefundID)
			if named = !ok || r.MerchantRefundID != ""; second != "" && second != r.MerchantRefundID {
				d.keepRaw(&r.Extra, memberRefundID, wire.AppendString(nil, second))
			}
			return ok, unreadable
		case memberRefundID: // a published alternative name, not in the interface
			if named {
				d.Value()
				return false, "" // a second name for it: kept in Extra
			}
			return d.ID(&r.MerchantRefundID), unreadable
		case "uniqueId":
			return d.UniqueID(&r.UniqueID), unreadable
		case "refundUniqueId":
			return d.RefundID(&r.RefundUniqueID), "has other characters than an id, or more than 128"
		case "refundCurrency":
			var isText bool
			if ok, isText = d.Currency(&r.RefundCurrency); !isText {
				return false, unreadable
			}
		case "refundAmount":
			ok, _ = d.Amount(&r.RefundAmount)
			return ok, unreadable
		case "refundRequestAt":
			ok = d.wallTime(&r.RefundRequestAt)
		case "refundAt":
			ok = d.wallTime(&r.RefundAt)
		case "appId": // not in the interface
			ok = d.AppID((*string)(&r.AppID))
		default:
			d.Value()
		}
		return ok, ""
	})
}

func (d decoder) address(a *Address) {
	var unknown map[string]json.RawMessage
	d.object(&unknown, func(name []byte) (ok bool, essential string) {
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
		return ok, ""
	})
	if len(unknown) > 0 {
		a.Extra = make(map[string]any, len(unknown))
		for name, raw := range unknown {
			a.Extra[name] = raw
		}
	}
}

// unreadable is the reason for an essential member for which no more specific one is known.
const unreadable = "cannot be read"

// object reads an object. The function member reads the value of each name, and reports whether it has the right format; for
// an essential member it also returns the reason to report if it has not. A value in the wrong format is kept in extra, as
// received; bad is the first essential one, or one that is there twice: in another case, too, which could say something else.
func (d decoder) object(extra *map[string]json.RawMessage, member func(name []byte) (ok bool, essential string)) (bad *badMember) {
	essentials := make([][]byte, 0, 8) // no object has more: no allocation
	for name := range d.Members {
		start := d.Pos()
		ok, essential := member(name)
		if essential != "" {
			essentials = append(essentials, name)
		}
		if !ok {
			d.keep(extra, name, start)
			if essential != "" && bad == nil {
				bad = &badMember{string(name), essential}
			}
		}
	}
	if bad != nil || len(*extra) == 0 {
		return bad
	}
	for _, name := range essentials {
		for other := range *extra {
			if other != string(name) && strings.EqualFold(other, string(name)) {
				return &badMember{string(name), "is there twice, in two spellings"}
			}
		}
	}
	return nil
}

func (d decoder) code(dst *Code) bool { return d.Code((*int)(dst)) }

func (d decoder) wallTime(dst *WallTime) bool {
	s, ok := d.Scalar()
	if !ok || s.Null || bytes.HasPrefix(s.Text, []byte("0000-00-00")) {
		return ok
	}
	t, ok := civil.Parse(s.Text)
	if ok && t >= year1971 && t < year9999 {
		*dst = wallTime(t)
	}
	return ok
}

// Databases and programs write a time for one that is missing: 0000-00-00, or one in the year 1, 1900, 1970 or 9999. With such a time, a
// row would be in no range.
const (
	year1971 civil.Time = 365 * 24 * 60 * 60
	year9999 civil.Time = 253370764800
)

// keep stores the value that begins at start under its name, as received.
func (d decoder) keep(extra *map[string]json.RawMessage, name []byte, start int) {
	if !d.Failed() {
		d.keepRaw(extra, string(name), d.Raw(start))
	}
}

// keepRaw stores a value under a name.
func (d decoder) keepRaw(extra *map[string]json.RawMessage, name string, value []byte) {
	if *extra == nil {
		*extra = make(map[string]json.RawMessage)
	}
	shown, raw, _ := redact.Kept(name, value)
	(*extra)[shown] = raw
}

// decodedPage is a page, and the rows that were left out.
type decodedPage[T any] struct {
	*Page[T]
	odd []oddRow[T]

	clock   clockReading
	secrets *callSecrets // of the query, also without a page: for whoever puts rows into errors
}

// oddRow is a row that cannot be read.
type oddRow[T any] struct {
	row  T      // what can be read of it
	key  string // recognizes it in another response
	name walk.RowError
}

// rowErrors returns the errors of the rows that were left out, or nil.
func (p *decodedPage[T]) rowErrors() error {
	var all []error
	for _, bad := range p.odd {
		all = append(all, rowError(&bad.name))
	}
	return errors.Join(all...)
}

// responseTime is the member of a row that differs in every response.
var responseTime = regexp.MustCompile(`"timestamp"\s*:\s*"?[0-9]*`)

// keyOf recognizes a row that cannot be read in another response: by its bytes, and how many before it on the page are the same.
func keyOf[T any](raw []byte, before []oddRow[T]) string {
	hash := sha256.Sum256(responseTime.ReplaceAll(raw, nil))
	same := 0
	for _, bad := range before {
		if strings.HasPrefix(bad.key, string(hash[:])) {
			same++
		}
	}
	return string(hash[:]) + strconv.Itoa(same)
}

// decodePage reads a page and, with row, each row of its data; number is the page number, for errors. A row that cannot be
// read is left out and reported; the others are not affected.
func decodePage[T any](data []byte, number int, row func(decoder, *T) *badMember) (p decodedPage[T], err error) {
	d := newDecoder(data)
	defer d.Release()
	if d.Peek() != '{' {
		return decodedPage[T]{}, errNotObject
	}
	says, rows := envelope.Read(d.Reader, maxPageSize, func(i int, dst *T) bool {
		start := d.Pos()
		bad := &badMember{"data", "is not an object"}
		fault := d.ReadApart(func() {
			if d.Peek() == '{' {
				bad = row(d, dst)
			} else {
				d.Value()
			}
		})
		if fault != nil {
			bad = &badMember{"data", fault.Error()}
		}
		if bad != nil {
			name := walk.RowError{Page: number, Row: i + 1, Member: bad.name, Reason: bad.reason}
			p.odd = append(p.odd, oddRow[T]{*dst, keyOf(d.Raw(start), p.odd), name})
		}
		return bad == nil
	})
	if err := d.Finish(); err != nil {
		if err = fmt.Errorf("the response %w", err); !errors.Is(err, wire.ErrSyntax) {
			err = &pageError{err}
		}
		return decodedPage[T]{}, err
	}
	p.Page = &Page[T]{
		Code: Code(says.Code), Message: says.Message, Timestamp: says.Timestamp, CurrPage: says.CurrPage, PageSize: says.PageSize,
		TotalCount: says.TotalCount, TotalPage: says.TotalPage, Data: rows,
	}
	switch {
	case says.Unreadable != "":
		bad := badMember{says.Unreadable, unreadable}
		return decodedPage[T]{}, &pageError{bad.err()}
	case p.Code != CodeSearchSuccess:
		p.Message = joinMessages(says.Message, says.Reason)
	case !says.SaysRows:
		bad := badMember{"totalCount", "is missing, and so is data"}
		return decodedPage[T]{}, &pageError{bad.err()}
	}
	return p, nil
}

// pageError says that a page is JSON, but cannot be read. The gateway is not down: it writes pages in this way.
type pageError struct{ error }

// joinMessages combines the gateway's texts about a failure: the first often names only the kind of failure,
// and the second the reason.
func joinMessages(message, transactionMessage string) string {
	if message == "" || transactionMessage == "" || message == transactionMessage {
		return cmp.Or(message, transactionMessage)
	}
	return message + ": " + transactionMessage
}
