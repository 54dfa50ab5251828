// Package cardgateway is a client for a card payment gateway: token orders and token payments, direct and redirect
// subscriptions, redirect checkout, refunds, and the queries for orders and refunds.
//
// A Client is made by New and used by any number of goroutines. Each operation is one method with a request struct of
// its own; every documented limit is checked before anything is sent, and all violations are reported at once.
//
//	client, err := cardgateway.New(cardgateway.Config{BaseURL: "https://gateway.example", AppID: "123456"})
//
// # Outcomes
//
// A payment call ends in exactly one of these, and errors.Is tells which:
//
//   - no error: the gateway took it. Transaction.State says whether it is approved, in processing, or waiting for the
//     cardholder, who must then be sent to RedirectURL. Only Transaction.Paid means that money was taken.
//   - ErrInvalidRequest: a limit is violated, and this call sent nothing. Correct the request.
//   - ErrNotSent: it is proved that this call sent nothing. This is the only error after which the same call may simply be
//     made again; SafeToRetry says so.
//   - ErrDeclined: final, not paid. DeclinedError holds the transaction with its reason.
//   - ErrRefused: the gateway refused to process the request. RefusedError holds its code and text.
//   - ErrOutcomeUnknown: the payment may have happened. Do not repeat it: hand OutcomeUnknownError.Query to
//     Client.Resolve. For payments that must survive a crash of the process, use package journal.
//
// ErrInvalidRequest, ErrNotSent and ErrRefused speak of this call alone: they say nothing of an earlier call with the same
// TransactionID.
//
// A payment is sent at most once. The client repeats one by itself only where it is proved that nothing of it was sent, and
// then at most twice. Queries are repeated after transport failures, unreadable responses, HTTP 429 and 5xx.
//
// # Card data
//
// CardNumber, CVV and Token print masked everywhere, errors and logs carry an operation's path template and never its
// URL, and texts of the gateway are masked before they are kept. Prefer the hosted page and tokens: then no card number
// ever reaches the merchant.
//
// # What the interface leaves open
//
// The interface does not show authentication, the payload of notifications, the zone of its wall-clock texts, HTTP
// status codes, nor the full list of codes. Config.Authenticate, Config.Location, Extra on payments and their results,
// and notify.Options are the places for what a merchant knows of its own gateway. Names marked as
// published are what gateways that speak this interface document beyond it.
//
// # Testing
//
// Package sandbox is a whole gateway in the process, with hosted pages, notifications and faults. It needs no account.
package cardgateway
