package journal

import (
	"maps"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/percent"
)

// gatewayResult is what the gateway returned: the transaction of a payment, or a refund, or neither.
type gatewayResult struct {
	transaction *cardgateway.Transaction
	refund      *cardgateway.Refund
}

// result returns the transaction or the refund of the evidence.
func (ev *Evidence) result() gatewayResult { return gatewayResult{ev.Transaction, ev.Refund} }

// setResult sets the transaction and the refund of the evidence.
func (ev *Evidence) setResult(g gatewayResult) { ev.Transaction, ev.Refund = g.transaction, g.refund }

func (g gatewayResult) isNothing() bool { return g.transaction == nil && g.refund == nil }

// copied returns a copy, so that no caller can change the result of another.
func (g gatewayResult) copied() gatewayResult {
	if g.transaction != nil {
		t := *g.transaction
		t.Extra = maps.Clone(t.Extra)
		if t.BillingAddress != nil {
			address := *t.BillingAddress
			address.Extra = maps.Clone(address.Extra)
			t.BillingAddress = &address
		}
		if t.Is3D != nil {
			t.Is3D = new(*t.Is3D)
		}
		g.transaction = &t
	}
	if g.refund != nil {
		r := *g.refund
		r.Extra = maps.Clone(r.Extra)
		g.refund = &r
	}
	return g
}

// id returns the gateway's own id.
func (g gatewayResult) id() string {
	switch {
	case g.transaction != nil:
		return g.transaction.UniqueID
	case g.refund != nil:
		return g.refund.RefundUniqueID
	}
	return ""
}

// at returns when the transaction was made, or the refund requested, according to the gateway.
func (g gatewayResult) at() cardgateway.WallTime {
	switch {
	case g.transaction != nil:
		return g.transaction.TransactionAt
	case g.refund != nil:
		return g.refund.RefundRequestAt
	}
	return cardgateway.WallTime{}
}

func (g gatewayResult) code() cardgateway.Code {
	switch {
	case g.transaction != nil:
		return g.transaction.Code
	case g.refund != nil:
		return g.refund.Code
	}
	return 0
}

// gatewayState returns what the code means.
func (g gatewayResult) gatewayState() cardgateway.State {
	switch {
	case g.transaction != nil:
		return g.transaction.State()
	case g.refund != nil:
		return g.refund.State()
	}
	return cardgateway.StateUnknown
}

// state returns the state that it means, if it came without an error.
func (g gatewayResult) state() State {
	switch g.gatewayState() {
	case cardgateway.StateApproved:
		return Succeeded
	case cardgateway.StateDeclined:
		return Declined
	case cardgateway.StateProcessing, cardgateway.StateRedirect:
		return Pending
	}
	return Unknown
}

// kept returns a copy of the members that may be stored. The gateway's texts are left out, because they could contain a
// card number or a token. The redirect URL is kept, because no query returns it.
func (g gatewayResult) kept() (k gatewayResult) {
	if t := g.transaction; t != nil {
		k.transaction = &cardgateway.Transaction{
			Code: t.Code, IsTest: t.IsTest, UniqueID: t.UniqueID, TransactionID: t.TransactionID, Timestamp: t.Timestamp,
			TransactionAmount: t.TransactionAmount, TransactionCurrency: t.TransactionCurrency,
			TransactionAt: t.TransactionAt, Is3D: t.Is3D,
		}
		if t.State() == cardgateway.StateRedirect {
			k.transaction.RedirectURL = t.RedirectURL
		}
	}
	if r := g.refund; r != nil {
		k.refund = &cardgateway.Refund{
			Code: r.Code, UniqueID: r.UniqueID, MerchantRefundID: r.MerchantRefundID, RefundUniqueID: r.RefundUniqueID,
			Timestamp: r.Timestamp, RefundAmount: r.RefundAmount, RefundCurrency: r.RefundCurrency,
			RefundRequestAt: r.RefundRequestAt, RefundAt: r.RefundAt,
		}
	}
	return k
}

// keptOfQuery does the same for the result of a query. The secrets of the payment are not known then, so a redirect URL
// is kept only for operations that have none.
func (g gatewayResult) keptOfQuery(op string) gatewayResult {
	k := g.kept()
	if k.transaction != nil && (op == opTokenPayment || op == opSubscription) {
		k.transaction.RedirectURL = ""
	}
	return k
}

// sameTime reports whether two times are equal, or one of them is missing.
func (g gatewayResult) sameTime(other gatewayResult) bool {
	a, b := g.at(), other.at()
	return a == b || a.IsZero() || b.IsZero()
}

// timeOf returns a time for JSON, or nil for none.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// secrets are the values of a payment that must not be stored. The client masks them in the gateway's texts, which are
// not stored anyway. That leaves the uniqueId, the currency and the redirect URL.
type secrets struct {
	token  cardgateway.Token
	number cardgateway.CardNumber
	code   cardgateway.CVV
}

// removeFrom empties every stored text that contains a secret.
func (s *secrets) removeFrom(t *cardgateway.Transaction) {
	if t == nil {
		return
	}
	for _, text := range []*string{&t.RedirectURL, &t.UniqueID, &t.TransactionCurrency} {
		if s.foundIn(*text) {
			*text = ""
		}
	}
}

// foundIn searches a text for the secrets: as it is, and URL-decoded once and twice.
func (s *secrets) foundIn(text string) bool {
	once := percent.Decode(text)
	twice := percent.Decode(once)
	for _, plain := range []string{text, once, twice, strings.ReplaceAll(twice, "+", " ")} {
		if token := s.token.Reveal(); token != "" && strings.Contains(plain, token) {
			return true
		}
		if s.hasNumber(separators.Replace(plain)) {
			return true
		}
	}
	return s.hasCode(once) || s.hasCode(twice) // not the text as it is: the digits of its escapes are not a code
}

// separators are the characters that can separate the groups of a card number.
var separators = strings.NewReplacer(" ", "", "-", "", "+", "", ".", "", "_", "", "/", "", ",", "")

// hasCode searches the numbers in a text for the verification code.
func (s *secrets) hasCode(text string) bool {
	if s.code.IsZero() {
		return false
	}
	for _, number := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if s.code.Equal(cardgateway.NewCVV(number)) {
			return true
		}
	}
	return false
}

// hasNumber compares every run of 12 to 19 digits in a text with the card number, because a CardNumber does not reveal
// its digits.
func (s *secrets) hasNumber(text string) bool {
	const shortest, longest = 12, 19
	for from := range len(text) {
		for n := 0; n < longest && from+n < len(text) && '0' <= text[from+n] && text[from+n] <= '9'; n++ {
			if n+1 >= shortest && s.number.Equal(cardgateway.NewCardNumber(text[from:from+n+1])) {
				return true
			}
		}
	}
	return false
}
