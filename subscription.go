package cardgateway

import (
	"context"

	"github.com/shopspring/decimal"
)

var opCreateSubscription = Operation{Name: "CreateSubscription", Method: "POST", PathTemplate: "/api/subscription", Payment: true}

// SubscriptionRequest starts a subscription with card data that the merchant holds ("Direct subscription payment").
// Fields are required unless marked optional; lengths are in characters.
type SubscriptionRequest struct {
	TransactionID   string          // at most 128; unique per transaction
	OrderID         string          // at most 128; only one successful transaction exists per order
	Currency        string          // three capital letters
	Amount          decimal.Decimal // above zero, at most 12 digits, of them at most 3 decimals, and no more than the currency has
	TransactionIP   string          // one address, the cardholder's: no port, no list and no host name
	CallbackURL     string          // where the cardholder's browser returns after 3D; http or https, at most 255
	NotificationURL string          // http or https, at most 255
	ProductInfos    []ProductInfo   // at least one
	BillingAddress  Address         // Country is required
	ShippingAddress *Address        // optional
	Secure          bool            // true requests a 3D transaction
	Browser         *Browser        // required if Secure
	Card            Card
	Extension       SubscriptionExtension
	Extra           map[string]any // optional; members that the interface does not define
}

// CreateSubscription makes the first charge and sets up the recurring charges. The response has code 100 (approved) or
// 301: then redirect the cardholder to its RedirectURL for 3D authentication.
//
// Errors are those of every payment operation; see the package comment. ErrOutcomeUnknown is especially serious here: a
// recurring charge may have been set up, and the interface documents no way to cancel it. Resolve it, and do not call
// again. Call Card.Wipe when the card is no longer needed.
func (c *Client) CreateSubscription(ctx context.Context, req SubscriptionRequest) (*Transaction, error) {
	e := c.newEncoder('{')
	req.encode(e, c.cfg.AppID)
	p := sentPayment{
		transactionID: req.TransactionID, orderID: req.OrderID, amount: req.Amount, currency: req.Currency,
		cycle: req.Extension.SubscriptionCycle,
	}
	return c.pay(ctx, opCreateSubscription, p, e)
}

func (req *SubscriptionRequest) encode(e *encoder, app AppID) {
	e.id("transactionId", req.TransactionID)
	e.id("orderId", req.OrderID)
	e.currency(req.Currency, required)
	e.amount(req.Amount, req.Currency)
	e.ip(req.TransactionIP)
	e.appID(app, maxAppID)
	e.webURL("callbackUrl", req.CallbackURL)
	e.webURL("notificationUrl", req.NotificationURL)
	e.products(req.ProductInfos)
	e.billing(&req.BillingAddress)
	e.shipping(req.ShippingAddress)
	e.secure(req.Secure)
	e.browser(req.Browser, req.Secure)
	e.card(&req.Card)
	e.subscription(&req.Extension)
	e.extra(req.Extra, requestMembers)
}
