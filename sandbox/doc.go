// Package sandbox is a card payment gateway in one process, for testing a merchant's integration without an
// account and without a network. It speaks the gateway's interface and nothing else: it works with any client, in
// any language, through cmd/cardgateway-sandbox.
//
// # Testing an integration
//
// Start it, point the client under test at its URL, and judge by what happened to the money:
//
//	srv, err := sandbox.Start(sandbox.Options{SecretKey: "test-secret", NotificationScale: 0.001})
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
// The card decides the outcome by its CVV: 001 to 599 is approved, 600 to 699 stays at 102 until Settle, 700 to
// 799 asks for 3D authentication, 800 to 999 is declined; TestCard returns one of each. A token can be made of any
// card and remembers what the card does, so that a token made with CVV 900 gives declined token payments; NewToken makes
// one in a line. EnterCard and Authenticate play the cardholder on the hosted pages; a browser can do the same, since
// the pages are plain forms whose fields have the names of the interface's card object.
//
// What goes wrong in production can be arranged:
//
//	// The payment is charged, its response is lost.
//	srv.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
//	for _, f := range sandbox.Faults(2 * time.Second) { ... } // all of them
//
// Seed fills the order and refund searches with any number of rows, SeedOrders does so in several currencies, AddOrders
// and AddRefunds with a profile, and SearchBehavior makes searches as unhelpful as the interface allows; OrderIDs and
// RefundIDs say what a complete walk has to find. NotificationRequest builds a signed notification for the unit test of
// a notification handler.
//
// # Time
//
// Tests with virtual time (testing/synctest) use New and RoundTripper, which need no socket: settling, faults and
// repeated notifications then take none. In real time, NotificationScale shortens the published waits between
// notifications, and SettleAfter and RefundSettleAfter below zero leave payments and refunds in processing until Settle
// and SettleRefund end them.
//
// # What is the interface and what is not
//
// Where the interface leaves something open, the sandbox follows what gateways of this kind publish, and where they are
// silent too, it has an option: authentication (MerchantID), notifications and their signature (SecretKey), codes of
// refusals (500 for a bad request, 404, 401, 501 for a repeated transactionId), the zone of wall-clock texts
// (Location), and everything in SearchBehavior. Creating a token moves no money here. POST /api/refund and
// POST /upload/trackingNumber are published and offered. docs/sandbox.md has the whole list.
//
// # Looking at it
//
// Below /_sandbox/ a dashboard shows payments, refunds, notifications with every delivery, and requests, and a JSON
// interface does what a Go test can do. Only requests from this machine reach them, unless Options.Control says
// otherwise.
//
// Card numbers are masked as soon as they are read, CVVs are not kept at all, and what the log keeps and shows is
// without secrets.
package sandbox
