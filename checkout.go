package cardgateway

import (
	"context"

	"github.com/shopspring/decimal"
)

var opCreateCheckout = Operation{Name: "CreateCheckout", Method: "POST", PathTemplate: "/checkout/payment", Payment: true}

// CheckoutRequest creates a payment that the cardholder makes on the hosted page ("Redirect payment checkout").
// Fields are required unless marked optional; lengths are in characters.
type CheckoutRequest struct {
	TransactionID     string             // at most 128; unique per transaction
	OrderID           string             // at most 128; only one successful transaction exists per order
	Currency          string             // three capital letters
	Amount            decimal.Decimal    // above zero, at most 12 digits, of them at most 3 decimals, and no more than the currency has
	TransactionIP     string             // one address, the cardholder's: no port, no list and no host name
	CallbackURL       string             // where the cardholder's browser returns; http or https, at most 255
	NotificationURL   string             // http or https, at most 255
	ProductInfos      []ProductInfo      // at least one
	TransactionMethod TransactionMethod  // optional, at most 32; the gateway's default is MethodDefault
	TransactionType   TransactionType    // optional; not in the interface's table, but in its examples
	BillingAddress    Address            // Country is required
	ShippingAddress   *Address           // optional
	Secure            bool               // true requests a 3D transaction
	Browser           *Browser           // required if Secure
	Extension         *CheckoutExtension // required for some transactions; the interface does not say which
	Extra             map[string]any     // optional; members that the interface does not define
}

// CreateCheckout creates a checkout. The response has code 301: redirect the cardholder to its RedirectURL. The outcome of
// the payment arrives in a notification, or can be queried.
//
// Errors are those of every payment operation; see the package comment. After ErrOutcomeUnknown the checkout may
// exist, but no cardholder was redirected to it, and the interface documents no way to fetch its RedirectURL again.
func (c *Client) CreateCheckout(ctx context.Context, req CheckoutRequest) (*Transaction, error) {
	e := c.newEncoder('{')
	req.encode(e, c.cfg.AppID)
	p := sentPayment{transactionID: req.TransactionID, orderID: req.OrderID, amount: req.Amount, currency: req.Currency, hostedPage: true}
	return c.pay(ctx, opCreateCheckout, p, e)
}

func (req *CheckoutRequest) encode(e *encoder, app AppID) {
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
	e.checkout(req.Extension)
	e.extra(req.Extra, requestMembers)
}

var opCreateCheckoutSubscription = Operation{Name: "CreateCheckoutSubscription", Method: "POST", PathTemplate: "/checkout/subscription", Payment: true}

// CheckoutSubscriptionRequest creates a subscription that the cardholder starts on the hosted page ("Redirect payment
// checkout subscription"). Fields are required unless marked optional; lengths are in characters.
type CheckoutSubscriptionRequest struct {
	TransactionID     string            // at most 128; unique per transaction
	OrderID           string            // at most 128; only one successful transaction exists per order
	Currency          string            // three capital letters
	Amount            decimal.Decimal   // above zero, at most 12 digits, of them at most 3 decimals, and no more than the currency has
	TransactionIP     string            // one address, the cardholder's: no port, no list and no host name
	CallbackURL       string            // where the cardholder's browser returns; http or https, at most 255
	NotificationURL   string            // http or https, at most 255
	ProductInfos      []ProductInfo     // at least one
	TransactionMethod TransactionMethod // optional, at most 32; the gateway's default is MethodDefault
	BillingAddress    Address           // Country is required
	ShippingAddress   *Address          // optional
	Secure            bool              // true requests a 3D transaction
	Browser           *Browser          // required if Secure
	Extension         SubscriptionExtension
	Extra             map[string]any // optional; members that the interface does not define
}

// CreateCheckoutSubscription creates a subscription checkout. The response has code 301: redirect the cardholder to its
// RedirectURL. The outcome arrives in a notification, or can be queried.
//
// Errors are those of every payment operation; see the package comment, and CreateCheckout for ErrOutcomeUnknown.
func (c *Client) CreateCheckoutSubscription(ctx context.Context, req CheckoutSubscriptionRequest) (*Transaction, error) {
	e := c.newEncoder('{')
	req.encode(e, c.cfg.AppID)
	p := sentPayment{
		transactionID: req.TransactionID, orderID: req.OrderID, amount: req.Amount, currency: req.Currency, hostedPage: true,
		cycle: req.Extension.SubscriptionCycle,
	}
	return c.pay(ctx, opCreateCheckoutSubscription, p, e)
}

func (req *CheckoutSubscriptionRequest) encode(e *encoder, app AppID) {
	e.id("transactionId", req.TransactionID)
	e.id("orderId", req.OrderID)
	e.currency(req.Currency, required)
	e.amount(req.Amount, req.Currency)
	e.ip(req.TransactionIP)
	e.appID(app, maxAppID)
	e.webURL("callbackUrl", req.CallbackURL)
	e.webURL("notificationUrl", req.NotificationURL)
	e.products(req.ProductInfos)
	e.text("transactionMethod", string(req.TransactionMethod), optional, maxMethod)
	e.billing(&req.BillingAddress)
	e.shipping(req.ShippingAddress)
	e.secure(req.Secure)
	e.browser(req.Browser, req.Secure)
	e.subscription(&req.Extension)
	e.extra(req.Extra, requestMembers)
}
