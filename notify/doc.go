// Package notify receives what the gateway sends to a notificationUrl: results of payments and refunds, chargebacks, and
// the tokens of stored cards.
//
// The interface shows neither the payload of a notification nor a signature, and even the signature that gateways publish
// can be repeated and shifted. So a payload decides nothing. NewHandler asks the gateway about the transaction that a
// notification names, through the merchant's cardgateway.Client, and hands over what the gateway confirms.
//
//	handler := notify.NewHandler(client, notify.Options{Verify: notify.SignatureSHA256(secretKey)},
//		func(ctx context.Context, n *notify.Notification) error {
//			return book(ctx, n.Transaction) // confirmed; n.Claimed is what the payload says
//		})
//
// Tokens are the exception: no query confirms one. TokenURLs gives each token order a notification URL that nobody can
// guess, and the handler accepts a token only there.
//
// Notifications get lost. Settle open payments by Client.Resolve or package journal, and reconcile by Client.Orders and
// Client.Refunds, whatever arrives here.
package notify
