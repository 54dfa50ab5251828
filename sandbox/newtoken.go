package sandbox

import (
	"crypto/rand"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
)

// NewToken returns a token for a test card, without a hosted page: payments with it have the outcome of the card. It
// replaces a token order that a cardholder has completed, except that no row is found and no notification is sent. It also
// creates a token for a declined card, whatever Options.TokenOrderUsesCard is.
func (g *Gateway) NewToken(o Outcome) string {
	c, _ := readCard(TestCard(o))
	token := "tok" + rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ledger.tokens[token] = &order{
		op: OpTokenCreate, created: time.Now(), code: codes.Success, text: "Approved", token: token,
		payment: payment{appID: g.opts.AppID, card: c, billing: address{country: "US"}},
	}
	return token
}
