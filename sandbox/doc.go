// Package sandbox is a card payment gateway in one process, for testing a merchant's integration without an account and
// without network access. It implements the gateway's interface and shares no code with the client, so it can also be used
// with other clients, in any language, through cmd/cardgateway-sandbox.
//
// # Testing an integration
//
// Start it, point the client under test at its URL, and check what happened to the money:
//
//	srv, err := sandbox.Start(sandbox.Options{SecretKey: "test-secret", Notifications: sandbox.Notifications{Scale: 0.001}})
//	if err != nil {
//		t.Fatal(err)
//	}
//	defer srv.Close()
//	shop := NewShop(srv.URL)
//
//	shop.Pay("order-1")
//	if n := srv.Executed("order-1"); n != 1 {
//		t.Errorf("charged %d times", n)
//	}
//
// The CVV of the card selects the outcome: 001 to 599 is approved, 600 to 699 stays in processing (102) until Settle, 700
// to 799 requires 3D authentication, 800 to 999 is declined; TestCard returns a card for each. A token can be created for
// any card and keeps the behaviour of the card: payments with a token for CVV 900 are declined. NewToken creates one
// without a hosted page. EnterCard and Authenticate act as the cardholder on the hosted pages. A browser can do the same:
// the pages are plain forms whose fields have the names of the interface's card object.
//
// Failures can be injected:
//
//	// The payment is charged, but its response is lost.
//	srv.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
//	for _, f := range sandbox.Faults(2 * time.Second) { ... } // a list of named faults
//
// Settle, CloseOrder, Refund, Renew, Chargeback, Notify and SettleRefund act as the gateway's back office, with the id of a payment
// or a refund: that of the gateway or that of the merchant. Their errors say why nothing was done.
//
// Seed adds any number of orders and refunds for searches, SeedOrders does so in several currencies and with a profile of
// the day. Search makes searches as unhelpful as the interface allows. OrderIDs and RefundIDs return what a complete walk
// must find. NotificationRequest creates a signed notification for the unit test of a notification handler.
//
// # Time
//
// Tests with virtual time (testing/synctest) use New and RoundTripper, which need no socket: settling, faults and
// notification retries then take no real time. In real time, Notifications.Scale shortens the published pauses between
// retries, and negative values of SettleAfter and RefundSettleAfter keep payments and refunds in processing until Settle
// and SettleRefund end them.
//
// # Undocumented behaviour
//
// If the interface leaves something open, the sandbox does what gateways of this kind publish. If they publish nothing
// either, there is an option: authentication (MerchantID), notifications and their signature (SecretKey), codes of refusals
// (500 for a bad request, 404, 401, 501 for a repeated transactionId), the time zone of wall-clock times (Location), and
// everything in Search. Creating a token moves no money unless
// Cards.TokenOrderCharges is set. POST /api/refund and POST /upload/trackingNumber are
// published, and implemented. The comments of Options have the whole list.
//
// # Dashboard
//
// Below /_sandbox/ a dashboard shows payments, refunds, requests, and notifications with every delivery, and a JSON control
// API offers the same actions as the methods of Gateway. By default they accept only requests from this machine; see
// Options.Console.
//
// Card numbers are masked as soon as they are read, CVVs are not stored at all, and the request log contains no secrets.
package sandbox
