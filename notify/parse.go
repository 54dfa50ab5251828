package notify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/escape"
	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// Parse reads the body of a notification, at most 64 KiB. One that begins with { is JSON, and one that begins with a name and = is
// a form, whatever its media type says. It applies the same rules as the handler, and confirms nothing: use it if the handler does
// not fit, for instance behind a queue, and call GetTransaction before you rely on anything in it.
//
// Numbers may be sent as strings and strings as numbers; a member may be missing, null or empty. Rejected are repeated
// members, nesting deeper than 32, trailing data, and identifiers that cannot be read. The token is looked up under its
// likely names, first "token" and "tokenization", because the interface does not document its name. Errors never quote the
// body.
func Parse(body []byte, contentType string) (*Notification, error) {
	return parse(body, contentType, likelyTokenMembers)
}

// maxBody is the size limit of a notification's body. The published examples have less than 1 KiB.
const maxBody = 64 << 10

// likelyTokenMembers are tried in this order.
var likelyTokenMembers = []string{
	"token", "tokenization", "tokenId", "cardToken", "tokenizationId", "tokenizationToken", "paymentToken", "cardTokenId",
}

// Why a notification cannot be read. No error about a notification quotes it.
var (
	errTooLong    = errors.New("notify: the notification has more than 64 KiB")
	errMediaType  = errors.New("notify: the Content-Type of the notification is neither JSON nor a form, or it is compressed")
	errUnreadable = errors.New("notify: the notification")
)

func unreadable(why string) error { return fmt.Errorf("%w %s", errUnreadable, why) }

func parse(body []byte, contentType string, tokenMembers []string) (*Notification, error) {
	if len(body) > maxBody {
		return nil, errTooLong
	}
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	switch media := mediaType(contentType); {
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")):
	case media == "application/x-www-form-urlencoded" || form.Match(body):
		body = jsonOfForm(body)
	case media != "application/json":
		return nil, errMediaType
	}
	if len(body) == 0 {
		return nil, unreadable("is empty; was its body read before?")
	}
	p := parser{Reader: wire.NewReader(body), tokens: tokenFinder{members: tokenMembers}}
	p.claims.Extra = make(map[string]json.RawMessage)
	defer p.Release()
	if p.Peek() != '{' {
		return nil, unreadable("is not a JSON object")
	}
	return p.notification()
}

// form matches the beginning of a form.
var form = regexp.MustCompile(`^\s*[A-Za-z][A-Za-z0-9_]*=`)

// mediaType returns the media type alone: its parameters are not needed, and often malformed.
func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// jsonOfForm converts a form to a JSON object of strings, so that the same rules apply to both. A percent sign that begins no escape
// stays: not every gateway escapes its messages, and with the notification the token would be lost.
func jsonOfForm(body []byte) []byte {
	unescaped := func(text string) string { return escape.Percent(strings.ReplaceAll(text, "+", " ")) }
	object := append(make([]byte, 0, len(body)+len(body)/4+2), '{')
	for pair := range bytes.SplitSeq(bytes.TrimSpace(body), []byte("&")) {
		if len(pair) == 0 {
			continue
		}
		name, text, _ := strings.Cut(string(pair), "=")
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(wire.AppendString(object, unescaped(name)), ':')
		object = wire.AppendString(object, unescaped(text))
	}
	return append(object, '}')
}

// parser reads one notification.
type parser struct {
	*wire.Reader
	claims Claims
	signed payload
	tokens tokenFinder
}

func (p *parser) notification() (*Notification, error) {
	for name := range p.Members {
		p.member(string(name))
	}
	if err := p.Finish(); err != nil {
		return nil, unreadable(err.Error())
	}
	n := &Notification{Token: p.tokens.found, Claimed: p.claims}
	delete(n.Claimed.Extra, p.tokens.name)
	if len(n.Claimed.Extra) == 0 {
		n.Claimed.Extra = nil
	}
	n.Claimed.Kind = kindOf(n.Claimed.TransactionType)
	redactClaims(&n.Claimed, n.Token)
	signed := p.signed
	slices.SortFunc(signed.members, func(a, b signedMember) int { return strings.Compare(a.name, b.name) })
	n.signed = func() payload { return signed }
	return n, nil
}

// member reads one value twice: as the text that a signature covers, and as a claim.
func (p *parser) member(name string) {
	start := p.Pos()
	value := p.Value()
	if p.Failed() {
		return
	}
	text := value.Text()
	hidden := p.tokens.consider(name, value)
	if hidden {
		p.claims.Extra[name] = redact.WithheldValue() // the value is withheld, the name is kept
	} else if p.Rewind(start); !p.claim(name) {
		raw := p.Raw(start)
		shown, kept, withheld := redact.Kept(name, raw)
		if hidden = withheld || speaksOfToken(name) || speaksOfToken(escape.JSON(raw)); hidden {
			kept = redact.WithheldValue()
		}
		p.claims.Extra[shown] = kept
	}
	if name == signMember {
		p.signed.sign = text
	} else if text != "" { // otherwise a signature leaves it out
		hidden = hidden || name == redact.CardNumberMember || mask.CardData(name+" "+text) != name+" "+text
		p.signed.members = append(p.signed.members, signedMember{name, text, hidden})
	}
}

// claim reads the value of one member, and reports whether that succeeded. A member that identifies the subject of the
// notification must be readable.
func (p *parser) claim(name string) (ok bool) {
	c := &p.claims
	switch name {
	case "transactionType":
		ok = p.Text((*string)(&c.TransactionType))
	case "code":
		ok = p.Code((*int)(&c.Code))
	case "message":
		ok = p.Message(&c.Message)
	case "isTest":
		ok, _ = p.Bool(&c.IsTest)
	case "appId":
		ok = p.AppID((*string)(&c.AppID))
	case "uniqueId":
		return p.identifies(name, p.UniqueID(&c.UniqueID))
	case "transactionId":
		return p.identifies(name, p.ID(&c.TransactionID))
	case "refundUniqueId":
		return p.identifies(name, p.RefundID(&c.RefundUniqueID))
	case "merchantRefundId":
		return p.identifies(name, p.ID(&c.MerchantRefundID))
	case "refundTransactionId": // its other published name
		if c.MerchantRefundID == "" {
			return p.identifies(name, p.ID(&c.MerchantRefundID))
		}
		p.Value()
	case "timestamp":
		ok = p.Instant(&c.Timestamp)
	case "transactionAmount":
		ok, _ = p.Amount(&c.TransactionAmount)
	case "transactionCurrency":
		ok, _ = p.Currency(&c.TransactionCurrency)
	case redact.CardNumberMember:
		ok = p.MaskedCardNumber((*string)(&c.TransactionCardNumber))
	case "transactionMessage":
		ok = p.Message(&c.TransactionMessage)
	case "billDescription":
		ok = p.Message(&c.BillDescription)
	case "refundAmount":
		ok, _ = p.Amount(&c.RefundAmount)
	case "refundCurrency":
		ok, _ = p.Currency(&c.RefundCurrency)
	case "refundMessage":
		ok = p.Message(&c.RefundMessage)
	case "chargebackAmount":
		ok, _ = p.Amount(&c.ChargebackAmount)
	case "chargebackCurrency":
		ok, _ = p.Currency(&c.ChargebackCurrency)
	case signMember:
		p.Value()
		ok = true
	default:
		p.Value()
	}
	return ok
}

func (p *parser) identifies(name string, ok bool) bool {
	if !ok {
		p.Fail(errors.New("has a " + name + " that cannot be read"))
	}
	return ok
}

// tokenFinder finds the token among the members.
type tokenFinder struct {
	members []string // names of the token, the likeliest first
	rank    int      // of the name under which it was found, counted from 1
	name    string
	found   cardgateway.Token
}

// consider reports whether a member has one of the token's names, in whatever spelling: a lost token cannot be queried. Its text
// becomes the token unless a likelier name was found. A truth value is no token: it may say whether there is one.
func (t *tokenFinder) consider(name string, value wire.Value) bool {
	rank := slices.IndexFunc(t.members, func(member string) bool { return verdict.Flat(member) == verdict.Flat(name) }) + 1
	if rank == 0 {
		return false
	}
	text := value.Text()
	isFlag := slices.Contains([]string{"true", "false", "1", "0", "yes", "no", "y", "n"}, strings.ToLower(text))
	if text != "" && !isFlag && (t.rank == 0 || rank < t.rank) {
		t.rank, t.name, t.found = rank, name, cardgateway.NewToken(text)
	}
	return true
}

// speaksOfToken reports whether an unknown member must be withheld: it could hold a token under a name that is not in the
// list.
func speaksOfToken(text string) bool { return strings.Contains(strings.ToLower(text), "token") }
