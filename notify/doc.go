// Package notify receives what the gateway sends to a notificationUrl: results of payments and refunds, chargebacks, and
// the tokens of stored cards.
//
// The interface documents neither the payload of a notification nor a signature. The signature that gateways publish does
// not prevent replay, and characters can be moved between members without changing it. So a payload alone decides nothing:
// the handler of NewHandler queries the gateway for the transaction that a notification names, with the merchant's
// cardgateway.Client, and passes on what the gateway confirms.
//
//	handler := notify.NewHandler(client, notify.Options{Verify: notify.SignatureSHA256(secretKey)},
//		func(ctx context.Context, n *notify.Notification) error {
//			return book(ctx, n.Transaction) // confirmed; n.Claimed is what the payload says
//		})
//
// Tokens are the exception: no query can confirm one. TokenURLs creates a notification URL for each token order that nobody
// can guess, and the handler accepts a token only at that URL.
//
// Notifications can be lost. Also resolve open payments with Client.Resolve or package journal, and reconcile with
// Client.Orders and Client.Refunds.
package notify
