package sandbox

import (
	"cmp"
	"crypto/rand"
	"time"
)

// NewToken returns a token of a test card, for a test of token payments in one line: the payments with it do what the
// card does. It stands for a token order that a cardholder has finished, of which no row is found and no notification
// is sent. A declined card makes a token too, whatever Options.TokenOrderUsesCard says.
func (g *Gateway) NewToken(o Outcome) string {
	c, _ := readCard(TestCard(o))
	token := "tok" + rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ledger.tokens[token] = &order{
		op: OpTokenCreate, created: time.Now(), code: codeSuccess, text: "Approved", token: token,
		payment: payment{appID: cmp.Or(g.opts.AppID, "1"), card: c, billing: address{country: "US"}},
	}
	return token
}
