package cardgateway

import (
	"context"

	"github.com/shopspring/decimal"
)

var opCreateTokenOrder = Operation{Name: "CreateTokenOrder", Method: "POST", PathTemplate: "/checkout/tokenization/create", Payment: true}

// TokenOrderRequest creates an order for which the cardholder enters a card on the hosted page ("Create token
// order"). Fields are required unless marked optional; lengths are in characters.
type TokenOrderRequest struct {
	TransactionID     string            // at most 128; unique per transaction
	OrderID           string            // at most 128; only one successful transaction exists per order
	Currency          string            // three capital letters
	Amount            decimal.Decimal   // above zero, at most 12 digits, of them at most 3 decimals, and no more than the currency has
	TransactionIP     string            // one address, the cardholder's: no port, no list and no host name
	CallbackURL       string            // where the cardholder's browser returns; http or https, at most 255
	NotificationURL   string            // where the token is sent; http or https, at most 255
	ProductInfos      []ProductInfo     // at least one
	TransactionMethod TransactionMethod // optional, at most 32; the gateway's default is MethodDefault
	TransactionType   TransactionType   // optional; not in the interface's table, but in its examples
	BillingAddress    Address           // Country is required
	ShippingAddress   *Address          // optional
	Secure            bool              // true requests a 3D transaction
	Browser           *Browser          // required if Secure
	Extra             map[string]any    // optional; members that the interface does not define
}

// CreateTokenOrder creates a token order. The response has code 301: redirect the cardholder to its RedirectURL. The token
// arrives later, in a notification; see package notify.
//
// The interface does not say whether the gateway charges the amount. Errors are those of every payment operation; see the package
// comment. After ErrOutcomeUnknown the order may exist, and the interface documents no way to fetch its RedirectURL again.
func (c *Client) CreateTokenOrder(ctx context.Context, req TokenOrderRequest) (*Transaction, error) {
	e := c.newEncoder('{')
	req.encode(e, c.cfg.AppID)
	p := sentPayment{transactionID: req.TransactionID, orderID: req.OrderID, amount: req.Amount, currency: req.Currency, hostedPage: true}
	return c.pay(ctx, opCreateTokenOrder, p, e)
}

func (req *TokenOrderRequest) encode(e *encoder, app AppID) {
	e.id("transactionId", req.TransactionID)
	e.id("orderId", req.OrderID)
	e.currency(req.Currency, required)
	e.amount(req.Amount, req.Currency)
	e.ip(req.TransactionIP)
	e.appID(app, maxShortAppID)
	e.webURL("callbackUrl", req.CallbackURL)
	e.webURL("notificationUrl", req.NotificationURL)
	e.products(req.ProductInfos)
	e.text("transactionMethod", string(req.TransactionMethod), optional, maxMethod)
	e.text("transactionType", string(req.TransactionType), optional, noLimit)
	e.billing(&req.BillingAddress)
	e.shipping(req.ShippingAddress)
	e.secure(req.Secure)
	e.browser(req.Browser, req.Secure)
	e.extra(req.Extra, requestMembers)
}

var opTokenPayment = Operation{Name: "TokenPayment", Method: "POST", PathTemplate: "/checkout/tokenization/payment/{tokenization}", Payment: true}

// TokenPaymentRequest charges a stored card ("Token payment"). Fields are required unless marked optional; lengths are in
// characters. It has no order id, so the rule of one success per order does not protect it.
type TokenPaymentRequest struct {
	TransactionID   string          // at most 128; unique per transaction
	Currency        string          // three capital letters
	Amount          decimal.Decimal // above zero, at most 12 digits, of them at most 3 decimals, and no more than the currency has
	TransactionIP   string          // one address, the cardholder's: no port, no list and no host name
	CallbackURL     string          // where the cardholder's browser returns; http or https, at most 255
	NotificationURL string          // http or https, at most 255
	ProductInfos    []ProductInfo   // at least one
	TransactionType TransactionType // optional; not in the interface's table, but in its examples
	ProductName     string          // optional; not in the interface's table, but in its example
	Secure          bool            // true requests a 3D transaction
	Extra           map[string]any  // optional; members that the interface does not define
}

// TokenPayment charges the card that the token stands for. The interface documents a response with code 102, in
// processing: the outcome arrives in a notification, or from GetTransaction with the UniqueID of the response.
//
// Errors are those of every payment operation; see the package comment. After ErrOutcomeUnknown the card may have
// been charged: use Resolve, and do not call again.
func (c *Client) TokenPayment(ctx context.Context, token Token, req TokenPaymentRequest) (*Transaction, error) {
	e := c.newEncoder('{')
	e.tokenPath(token)
	req.encode(e, c.cfg.AppID)
	p := sentPayment{transactionID: req.TransactionID, amount: req.Amount, currency: req.Currency}
	return c.pay(ctx, opTokenPayment, p, e)
}

func (req *TokenPaymentRequest) encode(e *encoder, app AppID) {
	e.id("transactionId", req.TransactionID)
	e.currency(req.Currency, required)
	e.amount(req.Amount, req.Currency)
	e.ip(req.TransactionIP)
	e.appID(app, maxAppID)
	e.webURL("callbackUrl", req.CallbackURL)
	e.webURL("notificationUrl", req.NotificationURL)
	e.products(req.ProductInfos)
	e.text("transactionType", string(req.TransactionType), optional, noLimit)
	e.text("productName", req.ProductName, optional, noLimit)
	e.secure(req.Secure)
	e.extra(req.Extra, requestMembers)
}
