package journal_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// A payment whose response is lost is not sent again, and its outcome is found by a query.
func Example() {
	gateway := sandbox.New(sandbox.Options{NoNotifications: true})
	defer gateway.Close()
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.test", AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: gateway.RoundTripper()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	store := journal.NewMemoryStore() // in production sqlite.Open or sqlstore.New
	payments := journal.New(client, store, journal.Options{})
	ctx := context.Background()

	gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset}) // charged, response lost
	_, err = payments.CreateSubscription(ctx, order("order-1", "123"))
	fmt.Println("unknown:", errors.Is(err, cardgateway.ErrOutcomeUnknown))

	// The customer presses the button again. Nothing is sent.
	_, err = payments.CreateSubscription(ctx, order("order-1", "123"))
	fmt.Println("still:  ", errors.Is(err, cardgateway.ErrOutcomeUnknown))

	for e, err := range payments.Recover(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		err := e.Outcome(func(t *cardgateway.Transaction, err error) error {
			if err == nil && client.Paid(t) {
				fmt.Println("paid:   ", e.ID().Text)
			}
			return payments.Ack(ctx, e.ID(), e.State()) // once it is stored
		}, nil)
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("charged:", gateway.Executed("order-1"))
	// Output:
	// unknown: true
	// still:   true
	// paid:    order-1
	// charged: 1
}

// A payment is repeated only if it is proved that nothing was sent; the journal allows nothing else.
func ExampleJournal_CreateSubscription() {
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "http://127.0.0.1:1", AppID: "7", TestPayments: true}) // nobody listens
	if err != nil {
		fmt.Println(err)
		return
	}
	payments := journal.New(client, journal.NewMemoryStore(), journal.Options{})
	_, err = payments.CreateSubscription(context.Background(), order("order-1", "123"))
	fmt.Println("not sent:", errors.Is(err, cardgateway.ErrNotSent), "safe to retry:", cardgateway.SafeToRetry(err))
	// Output:
	// not sent: true safe to retry: true
}

// A refund is handled like a payment. Its outcome and its acknowledgement have the same methods, and a function of its own.
func ExampleJournal_CreateRefund() {
	gateway := sandbox.New(sandbox.Options{NoNotifications: true, RefundDuplicates: sandbox.RefundDuplicatesExecuted})
	defer gateway.Close()
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.test", AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: gateway.RoundTripper()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	payments := journal.New(client, journal.NewMemoryStore(), journal.Options{})
	ctx := context.Background()
	paid, err := payments.CreateSubscription(ctx, order("order-1", "123"))
	if err != nil {
		fmt.Println(err)
		return
	}

	req := cardgateway.RefundRequest{UniqueID: paid.UniqueID, RefundTransactionID: "order-1", Amount: decimal.RequireFromString("5.00")}
	gateway.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Reply: sandbox.ReplyReset}) // accepted, response lost
	for range 2 {                                                                               // the second call sends nothing
		_, err = payments.CreateRefund(ctx, req)
		fmt.Println("unknown:", errors.Is(err, cardgateway.ErrOutcomeUnknown))
	}

	for e, err := range payments.Recover(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		err := e.Outcome(func(*cardgateway.Transaction, error) error { // the payment, which may have the same id
			return nil
		}, func(refund *cardgateway.Refund, err error) error {
			if err == nil && refund.Refunded() {
				fmt.Println("refunded:", e.ID().Text)
			}
			return payments.Ack(ctx, e.ID(), e.State()) // once it is stored
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("money was given back", gateway.Refunded("order-1"), "time")
	// Output:
	// unknown: true
	// unknown: true
	// refunded: order-1
	// money was given back 1 time
}

// Two processes of a shop call Run. One of them works, finds the outcome, and reports it; the other one stands by.
func ExampleJournal_Run() {
	gateway := sandbox.New(sandbox.Options{NoNotifications: true})
	defer gateway.Close()
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.test", AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: gateway.RoundTripper()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	store := journal.NewMemoryStore() // of both; in production a database
	one, other := journal.New(client, store, journal.Options{}), journal.New(client, store, journal.Options{})

	gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset}) // charged, response lost
	_, err = one.CreateSubscription(ctx, order("order-1", "123"))
	fmt.Println("unknown:", errors.Is(err, cardgateway.ErrOutcomeUnknown))

	var running sync.WaitGroup
	for _, payments := range []*journal.Journal{one, other} {
		running.Go(func() {
			_ = payments.Run(ctx, time.Minute, func(_ context.Context, e journal.Entry) error { // until ctx ends
				return e.Outcome(func(t *cardgateway.Transaction, err error) error {
					if errors.Is(err, cardgateway.ErrOutcomeUnknown) {
						return nil // it is reported again when more is known
					}
					fmt.Println(e.ID().Text, "is paid:", err == nil && client.Paid(t))
					cancel() // the program ends
					return nil
				}, nil)
			})
		})
	}
	running.Wait()
	// Output:
	// unknown: true
	// order-1 is paid: true
}

// order is a payment that a card of the sandbox pays at once. The verification code determines the outcome.
func order(id, cvv string) cardgateway.SubscriptionRequest {
	return cardgateway.SubscriptionRequest{
		TransactionID: id, OrderID: "order of " + id, Currency: "USD", Amount: decimal.RequireFromString("12.50"),
		TransactionIP: "192.0.2.1", CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/note",
		ProductInfos:   []cardgateway.ProductInfo{{ProductName: "Candle", Quantity: 1}},
		BillingAddress: cardgateway.Address{Country: "US"},
		Card: cardgateway.Card{
			CardNumber: cardgateway.NewCardNumber(testNumber), CVV: cardgateway.NewCVV(cvv),
			ExpiredMonth: "12", ExpiredYear: "39", Cardholder: "Ada Example",
		},
		Extension: cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 3},
	}
}

const testNumber = "4300000000000000"
