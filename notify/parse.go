package notify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// Parse reads the body of a notification, at most 64 KiB, as application/json or as application/x-www-form-urlencoded. It
// reads what the handler reads, and confirms nothing: use it where the handler does not fit, for instance behind a queue,
// and ask GetTransaction before believing anything.
//
// Numbers may come as texts and texts as numbers; a member may be missing, null or empty. Refused are repeated members,
// nesting over 32, trailing data, and identifiers that cannot be read. The token is looked for under its likely names,
// first "token" and "tokenization": the interface does not show its name. Errors never quote the body.
func Parse(body []byte, contentType string) (*Notification, error) {
	return parse(body, contentType, likelyTokenMembers)
}

// maxBody bounds a notification's body. The published examples have less than 1 KiB.
const maxBody = 64 << 10

// Limits of the members, in digits.
const (
	maxUniqueID = 128
	maxAppID    = 32
	maxCode     = 9
)

// likelyTokenMembers are tried in this order.
var likelyTokenMembers = []string{
	"token", "tokenization", "tokenId", "cardToken", "tokenizationId", "tokenizationToken", "paymentToken", "cardTokenId",
}

// Why a notification cannot be read. Like every error about one, they do not quote it.
var (
	errTooLong    = errors.New("notify: the notification has more than 64 KiB")
	errMediaType  = errors.New("notify: the notification is neither JSON nor a form by its Content-Type")
	errUnreadable = errors.New("notify: the notification")
)

func unreadable(why string) error { return fmt.Errorf("%w %s", errUnreadable, why) }

func parse(body []byte, contentType string, tokenMembers []string) (*Notification, error) {
	if len(body) > maxBody {
		return nil, errTooLong
	}
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err == nil && media == "application/json":
	case err == nil && media == "application/x-www-form-urlencoded":
		if body, err = jsonOfForm(body); err != nil {
			return nil, err
		}
	default:
		return nil, errMediaType
	}
	if len(body) == 0 {
		return nil, unreadable("is empty; was its body read before?")
	}
	p := parser{Reader: wire.NewReader(body), tokens: tokenFinder{members: tokenMembers}}
	defer p.Release()
	if p.Peek() != '{' {
		return nil, unreadable("is not a JSON object")
	}
	return p.notification()
}

// jsonOfForm writes a form as a JSON object of texts, so that both are read by the same rules.
func jsonOfForm(form []byte) ([]byte, error) {
	object := append(make([]byte, 0, len(form)+len(form)/4+2), '{')
	for pair := range bytes.SplitSeq(bytes.TrimSpace(form), []byte("&")) {
		if len(pair) == 0 {
			continue
		}
		name, text, _ := strings.Cut(string(pair), "=")
		name, err1 := url.QueryUnescape(name)
		text, err2 := url.QueryUnescape(text)
		if err1 != nil || err2 != nil { // they quote what they could not read
			return nil, unreadable("is not a well-formed form")
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(wire.AppendString(object, name), ':')
		object = wire.AppendString(object, text)
	}
	return append(object, '}'), nil
}

// parser reads one notification.
type parser struct {
	*wire.Reader
	claims Claims
	signed payload
	tokens tokenFinder
	bad    string // a member that identifies the subject and cannot be read
}

func (p *parser) notification() (*Notification, error) {
	for name := range p.Members {
		p.member(string(name))
	}
	if err := p.Finish(); err != nil {
		return nil, unreadable(err.Error())
	}
	if p.bad != "" {
		return nil, unreadable("has a " + p.bad + " that cannot be read")
	}
	n := &Notification{Token: p.tokens.found, Claimed: p.claims}
	n.Claimed.forget(p.tokens.name)
	n.Claimed.Kind = kindOf(n.Claimed.TransactionType)
	redactClaims(&n.Claimed, n.Token)
	p.signed.sort()
	signed := p.signed
	n.signed = func() payload { return signed }
	return n, nil
}

// member reads one value twice: as what a signature covers, and as what it means.
func (p *parser) member(name string) {
	start := p.Pos()
	text := p.Value().Text()
	if p.Failed() {
		return
	}
	hidden := p.tokens.consider(name, text)
	if !hidden {
		p.Rewind(start)
		ok, identifies := p.claim(name)
		if !ok && identifies {
			p.bad = name
		}
		if !ok {
			raw := p.Raw(start)
			hidden = speaksOfToken(name) || speaksOfToken(string(raw))
			p.claims.keep(name, raw)
		}
	}
	if hidden {
		p.claims.keep(name, redact.WithheldValue()) // its name can be learned
	}
	p.signed.add(name, text, hidden)
}

// claim reads the value of one member. It reports whether that worked, and whether the member identifies what the
// notification is about, so that it cannot be used without.
func (p *parser) claim(name string) (ok, identifies bool) {
	c := &p.claims
	switch name {
	case "transactionType":
		ok = p.Text((*string)(&c.TransactionType))
	case "code":
		var code int64
		code, _, ok = p.Int(maxCode)
		c.Code = cardgateway.Code(code)
	case "message":
		ok = p.Message(&c.Message)
	case "isTest":
		ok, _ = p.Bool(&c.IsTest)
	case "appId":
		ok = p.Digits((*string)(&c.AppID), maxAppID)
	case "uniqueId":
		return p.Digits(&c.UniqueID, maxUniqueID), true
	case "transactionId":
		return p.ID(&c.TransactionID), true
	case "refundUniqueId":
		return p.ID(&c.RefundUniqueID), true
	case "merchantRefundId":
		return p.ID(&c.MerchantRefundID), true
	case "timestamp":
		ok = p.Instant(&c.Timestamp)
	case "transactionAmount":
		ok, _ = p.Amount(&c.TransactionAmount)
	case "transactionCurrency":
		ok = p.ID(&c.TransactionCurrency)
	case "transactionCardNumber":
		ok = p.MaskedCardNumber((*string)(&c.TransactionCardNumber))
	case "transactionMessage":
		ok = p.Message(&c.TransactionMessage)
	case "billDescription":
		ok = p.Message(&c.BillDescription)
	case "refundAmount":
		ok, _ = p.Amount(&c.RefundAmount)
	case "refundCurrency":
		ok = p.ID(&c.RefundCurrency)
	case "refundMessage":
		ok = p.Message(&c.RefundMessage)
	case "chargebackAmount":
		ok, _ = p.Amount(&c.ChargebackAmount)
	case "chargebackCurrency":
		ok = p.ID(&c.ChargebackCurrency)
	case signMember:
		p.Value()
		ok = true
	default:
		p.Value()
	}
	return ok, false
}

// keep keeps a member that is unknown or could not be read.
func (c *Claims) keep(name string, value json.RawMessage) {
	if c.Extra == nil {
		c.Extra = make(map[string]json.RawMessage)
	}
	if name == "transactionCardNumber" { // in a form that cannot be read, and so not be masked
		value = redact.WithheldValue()
	}
	c.Extra[name] = value
}

// forget drops a kept member.
func (c *Claims) forget(name string) {
	delete(c.Extra, name)
	if len(c.Extra) == 0 {
		c.Extra = nil
	}
}

// tokenFinder picks the token out of the members.
type tokenFinder struct {
	members []string // names of the token, the likeliest first
	rank    int      // of the name that it was found under, counted from 1
	name    string
	found   cardgateway.Token
}

// consider reports whether a member has one of the token's names. Its text is the token unless a likelier name has one.
func (t *tokenFinder) consider(name, text string) bool {
	rank := slices.Index(t.members, name) + 1
	if rank == 0 {
		return false
	}
	if text != "" && (t.rank == 0 || rank < t.rank) {
		t.rank, t.name, t.found = rank, name, cardgateway.NewToken(text)
	}
	return true
}

// speaksOfToken is a reason to keep an unknown member out of sight: it could hold a token under a name that is not looked
// for.
func speaksOfToken(text string) bool { return strings.Contains(strings.ToLower(text), "token") }
