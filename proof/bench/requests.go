package bench

import (
	"slices"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/proof/bench/internal/loopback"
	"github.com/shopspring/decimal"
)

// The measured payments, once for the client and once by hand.
const (
	token           = "tok-5f2c9a1b7d"
	transactionIP   = "203.0.113.7"
	callbackURL     = "https://shop.example/callback?order=2026-000001"
	notificationURL = "https://shop.example/notification/2026-000001"
	description     = "Candle box, weekly"
)

// basket has the three products of a payment.
var basket = []product{
	{ProductName: "Unscented Tea Light Candles, White, Pack of 100", SKU: "123-456-789", ProductLink: "https://shop.example/p/123-456-789",
		Price: decimal.New(5850, -2), Quantity: 1},
	{ProductName: "Beeswax Pillar Candle, 20 cm", SKU: "123-456-790", ProductLink: "https://shop.example/p/123-456-790", Price: decimal.New(3000, -2),
		Quantity: 2},
	{ProductName: "Brass Candle Snuffer", SKU: "123-456-801", ProductLink: "https://shop.example/p/123-456-801", Price: decimal.New(1000, -2), Quantity: 1},
}

func products() []cardgateway.ProductInfo {
	infos := make([]cardgateway.ProductInfo, len(basket))
	for i, p := range basket {
		infos[i] = cardgateway.ProductInfo{
			ProductName: p.ProductName, SKU: p.SKU, ProductLink: p.ProductLink, Price: p.Price, Quantity: p.Quantity,
		}
	}
	return infos
}

var (
	amount = decimal.RequireFromString(loopback.Amount)
	buyer  = address{
		FirstName: "Gross", LastName: "Müller", Country: "US", Email: "cardholder@shop.example", City: "Springfield",
		Address: "742 Evergreen Terrace", Phone: "+1 217 555 0100", State: "IL", ZipCode: "62704",
	}
	recipient = address{
		FirstName: "Lena", LastName: "Müller", Country: "DE", Email: "recipient@shop.example", City: "Köln",
		Address: "Domkloster 4", Phone: "+49 221 5550100", State: "NW", ZipCode: "50667",
	}
)

func tokenPayment() cardgateway.TokenPaymentRequest {
	return cardgateway.TokenPaymentRequest{
		TransactionID: loopback.TransactionID, Currency: loopback.Currency, Amount: amount,
		TransactionIP: transactionIP, CallbackURL: callbackURL, NotificationURL: notificationURL,
		ProductInfos: products(),
	}
}

func subscription() cardgateway.SubscriptionRequest {
	to := cardgateway.Address{
		FirstName: recipient.FirstName, LastName: recipient.LastName, Country: recipient.Country,
		Email: recipient.Email, City: recipient.City, Address: recipient.Address, Phone: recipient.Phone,
		State: recipient.State, ZipCode: recipient.ZipCode,
	}
	return cardgateway.SubscriptionRequest{
		TransactionID: loopback.TransactionID, OrderID: loopback.OrderID, Currency: loopback.Currency, Amount: amount,
		TransactionIP: transactionIP, CallbackURL: callbackURL, NotificationURL: notificationURL,
		ProductInfos: products(),
		BillingAddress: cardgateway.Address{
			FirstName: buyer.FirstName, LastName: buyer.LastName, Country: buyer.Country, Email: buyer.Email,
			City: buyer.City, Address: buyer.Address, Phone: buyer.Phone, State: buyer.State, ZipCode: buyer.ZipCode,
		},
		ShippingAddress: &to,
		Card: cardgateway.Card{
			CardNumber: cardgateway.NewCardNumber("4300000000000000"), CVV: cardgateway.NewCVV("123"),
			ExpiredMonth: "12", ExpiredYear: "35", Cardholder: "Gross Mueller",
		},
		Extension: cardgateway.SubscriptionExtension{
			SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 3,
			SubscriptionDescription: description,
		},
	}
}

func tokenPaymentByHand() *payment {
	return &payment{
		TransactionID: loopback.TransactionID, Currency: loopback.Currency, Amount: amount,
		TransactionIP: transactionIP, AppID: loopback.AppID, CallbackURL: callbackURL,
		NotificationURL: notificationURL, ProductInfos: slices.Clone(basket),
	}
}

func subscriptionByHand() *payment {
	from, to := buyer, recipient
	p := tokenPaymentByHand()
	p.OrderID, p.BillingAddress, p.ShippingAddress = loopback.OrderID, &from, &to
	p.Card = &card{
		CardNumber: "4300000000000000", CVV: "123", ExpiredMonth: "12", ExpiredYear: "35", Cardholder: "Gross Mueller",
	}
	p.Extension = &extension{
		SubscriptionCycle: "WEEK", SubscriptionPeriod: 3, SubscriptionDescription: description,
	}
	return p
}
