package cardgateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// answer is what could be read of a transaction result: the result itself, and what its zero values do not tell.
type answer struct {
	*Transaction
	hasAmount bool
	badLink   bool    // there is a redirectUrl to which nobody should be sent
	unread    *unread // the first member of weight that could not be read
}

// unread names a member that an answer or a row cannot be used without.
type unread struct{ member, reason string }

func (u *unread) err() error { return fmt.Errorf("the answer's %s %s", u.member, u.reason) }

// readAnswer reads the one JSON object of an answer to a payment or a single query.
func readAnswer(data []byte) (answer, error) {
	r := newReader(data)
	defer r.release()
	if r.peek() != '{' {
		return answer{}, errNotObject
	}
	a := r.transaction(new(Transaction))
	if err := r.finish(); err != nil {
		return answer{}, fmt.Errorf("the answer %w", err)
	}
	return a, nil
}

var errNotObject = errors.New("the answer is not a JSON object")

// readTransactionRow reads one row of an order query.
func readTransactionRow(r *reader, t *Transaction) *unread {
	return r.transaction(t).unread
}

// transaction reads a transaction result. A member whose value has the wrong form is kept in Extra as sent; if it is
// one that decides what the answer means, the answer says so in unread.
func (r *reader) transaction(t *Transaction) (a answer) {
	a.Transaction = t
	var parts *optionalParts // of this transaction, once it needs them
	for name := range r.members {
		start := r.pos
		var ok, weighs bool
		reason := "cannot be read"
		switch string(name) {
		case "code":
			weighs = true
			ok = r.code(&t.Code)
		case "message":
			ok = r.message(&t.Message)
		case "isTest":
			ok = r.truth(&t.IsTest)
		case "appId":
			ok = r.appID(&t.AppID)
		case "uniqueId":
			weighs, reason = true, "is not a number of at most 128 digits"
			ok = r.digitID(&t.UniqueID)
		case "transactionId":
			weighs, reason = true, "is not a text of at most 255 characters"
			ok = r.id(&t.TransactionID)
		case "billDescription":
			ok = r.message(&t.BillDescription)
		case "timestamp":
			ok = r.instant(&t.Timestamp)
		case "transactionAmount":
			weighs, reason = true, "is not an amount of at most 12 digits and 3 decimals"
			ok, a.hasAmount = r.amount(&t.TransactionAmount)
		case "transactionCurrency":
			weighs = true
			ok = r.id(&t.TransactionCurrency)
		case "transactionAt":
			ok = r.wallTime(&t.TransactionAt)
		case "transactionCardNumber":
			ok = r.maskedNumber(&t.TransactionCardNumber)
		case "transactionMessage":
			ok = r.message(&t.TransactionMessage)
		case "transactionMethod":
			ok = r.text((*string)(&t.TransactionMethod))
		case "transactionType":
			ok = r.text((*string)(&t.TransactionType))
		case "is3d":
			parts = r.partsFor(parts)
			var said bool
			if ok, said = r.truthSaid(&parts.is3d); said {
				t.Is3D = &parts.is3d
			}
		case "redirectUrl":
			ok = r.link(&t.RedirectURL)
			a.badLink = !ok
		case "billingAddress":
			if r.peek() == '{' {
				parts = r.partsFor(parts)
				t.BillingAddress = &parts.address
				r.address(t.BillingAddress)
				ok = true
			} else {
				ok = r.value().kind == kindNull
			}
		default:
			r.value()
		}
		if !ok {
			r.keep(&t.Extra, name, start)
			if weighs && a.unread == nil {
				a.unread = &unread{string(name), reason}
			}
		}
	}
	r.texts.settle()
	return a
}

// optionalParts holds what a Transaction points to.
type optionalParts struct {
	address Address
	is3d    bool
}

// partsFor returns the parts of a transaction, made where it has none yet: several at once where there are rows.
func (r *reader) partsFor(p *optionalParts) *optionalParts {
	if p != nil {
		return p
	}
	if len(r.spare) == 0 {
		r.spare = make([]optionalParts, max(r.partsAtOnce, 1))
	}
	p, r.spare = &r.spare[0], r.spare[1:]
	return p
}

// readRefundRow reads one row of a refund query.
func readRefundRow(r *reader, f *Refund) (bad *unread) {
	var named bool // by the interface's own name
	for name := range r.members {
		start := r.pos
		var ok, weighs bool
		switch string(name) {
		case "code":
			weighs = true
			ok = r.code(&f.Code)
		case "message":
			ok = r.message(&f.Message)
		case "timestamp":
			ok = r.instant(&f.Timestamp)
		case "merchantRefundId":
			weighs = true
			before := len(r.texts.arena) // texts are not set before settle
			ok = r.id(&f.MerchantRefundID)
			named = !ok || len(r.texts.arena) > before
		case "refundTransactionId": // published as another name of the same, not in the interface
			if named {
				r.value()
				break
			}
			weighs = true
			ok = r.id(&f.MerchantRefundID)
		case "uniqueId":
			weighs = true
			ok = r.digitID(&f.UniqueID)
		case "refundUniqueId":
			weighs = true
			ok = r.id(&f.RefundUniqueID)
		case "refundCurrency":
			weighs = true
			ok = r.id(&f.RefundCurrency)
		case "refundAmount":
			weighs = true
			ok, _ = r.amount(&f.RefundAmount)
		case "refundRequestAt":
			ok = r.wallTime(&f.RefundRequestAt)
		case "refundAt":
			ok = r.wallTime(&f.RefundAt)
		default:
			r.value()
		}
		if !ok {
			r.keep(&f.Extra, name, start)
			if weighs && bad == nil {
				bad = &unread{string(name), "cannot be read"}
			}
		}
	}
	r.texts.settle()
	return bad
}

func (r *reader) address(a *Address) {
	var unknown map[string]json.RawMessage
	for name := range r.members {
		start := r.pos
		var ok bool
		switch string(name) {
		case "firstName":
			ok = r.text(&a.FirstName)
		case "lastName":
			ok = r.text(&a.LastName)
		case "country":
			ok = r.text(&a.Country)
		case "email":
			ok = r.text(&a.Email)
		case "city":
			ok = r.text(&a.City)
		case "address":
			ok = r.text(&a.Address)
		case "phone":
			ok = r.text(&a.Phone)
		case "state":
			ok = r.text(&a.State)
		case "zipCode":
			ok = r.text(&a.ZipCode)
		default:
			r.value()
		}
		if !ok {
			r.keep(&unknown, name, start)
		}
	}
	if len(unknown) > 0 {
		a.Extra = make(map[string]any, len(unknown))
		for name, raw := range unknown {
			a.Extra[name] = raw
		}
	}
}

// keep stores the value that was read from start on under its name, as it was sent.
func (r *reader) keep(extra *map[string]json.RawMessage, name []byte, start int) {
	if r.err != nil {
		return
	}
	if *extra == nil {
		*extra = make(map[string]json.RawMessage)
	}
	raw := bytes.TrimSpace(r.data[start:r.pos])
	if string(name) == "transactionCardNumber" { // in a form that cannot be read, and so not be masked
		raw = withheldValue()
	}
	(*extra)[string(name)] = bytes.Clone(raw)
}

// readPage reads a page envelope and, with row, each row of its data. A row that cannot be read costs only itself:
// it is left out of the page and reported in rowErrors.
func readPage[T any](data []byte, page int, row func(*reader, *T) *unread) (p *Page[T], rowErrors []error, err error) {
	r := newReader(data)
	defer r.release()
	if r.peek() != '{' {
		return nil, nil, errNotObject
	}
	p = new(Page[T])
	var bad *unread
	var says bool     // how many rows there are, or which
	var reason string // where the gateway refuses
	for name := range r.members {
		var ok, said bool
		switch string(name) {
		case "code":
			ok = r.code(&p.Code)
		case "message":
			ok = r.message(&p.Message)
		case "transactionMessage":
			r.message(&reason)
			ok = true
		case "timestamp":
			r.instant(&p.Timestamp) // nothing depends on it
			ok = true
		case "currPage":
			ok = r.count(&p.CurrPage)
		case "pageSize":
			ok = r.count(&p.PageSize)
		case "totalCount":
			ok, said = r.countSaid(&p.TotalCount)
		case "totalPage": // that there is none says how many rows there are
			ok, said = r.countSaid(&p.TotalPage)
			said = said && p.TotalPage == 0
		case "data":
			if ok = r.peek() == '['; ok {
				said = true
				p.Data, rowErrors = readRows(r, page, min(p.PageSize, p.TotalCount), row)
			} else {
				ok = r.value().kind == kindNull
			}
		default:
			r.value()
			ok = true
		}
		says = says || said
		if !ok && bad == nil {
			bad = &unread{string(name), "cannot be read"}
		}
	}
	r.texts.settle()
	if err := r.finish(); err != nil {
		return nil, nil, fmt.Errorf("the answer %w", err)
	}
	if p.Code != CodeSearchSuccess {
		p.Message = inWords(p.Message, reason)
	}
	if bad == nil && p.Code == CodeSearchSuccess && !says {
		bad = &unread{"totalCount", "is missing, and so is data"}
	}
	if bad != nil {
		return nil, nil, bad.err()
	}
	return p, rowErrors, nil
}

var errRows = fmt.Errorf("has more than %d rows", maxPageSize)

// readRows reads the rows of a page; expected is how many the envelope has announced so far. There may be more than were
// asked for: an older edition of the interface has no pageSize.
func readRows[T any](r *reader, page, expected int, row func(*reader, *T) *unread) (rows []T, rowErrors []error) {
	const shortestRow = 100 // bytes, so that an announcement alone makes nobody allocate
	rows = make([]T, 0, max(0, min(expected, maxPageSize, (len(r.data)-r.pos)/shortestRow)))
	r.partsAtOnce = 16
	for i := range r.elements {
		if i == maxPageSize {
			r.fail(errRows)
			break
		}
		bad := &unread{"data", "is not an object"}
		if r.peek() == '{' {
			rows = append(rows, *new(T))
			if bad = row(r, &rows[i-len(rowErrors)]); bad == nil {
				continue
			}
			rows = rows[:len(rows)-1]
		} else {
			r.value()
		}
		rowErrors = append(rowErrors, &RowError{Page: page, Row: i + 1, Member: bad.member, Reason: bad.reason})
	}
	return rows, rowErrors
}
