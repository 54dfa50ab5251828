// Package cardgateway is a client for a card payment gateway: token orders and token payments, direct and redirect
// subscriptions, redirect checkout, refunds, and the queries for orders and refunds.
//
// Create a Client with New; any number of goroutines can use it. Each operation is one method with its own request
// struct. Every documented limit is checked before anything is sent, and all violations are reported together.
//
//	client, err := cardgateway.New(cardgateway.Config{BaseURL: "https://gateway.example", AppID: "123456"})
//
// # Outcomes
//
// Every payment call ends in exactly one of these outcomes, which errors.Is distinguishes:
//
//   - no error: the gateway accepted the payment. Transaction.State says whether it is approved, in processing, or waiting
//     for the cardholder, who must then be redirected to RedirectURL. Only Client.Paid means that it is paid.
//   - ErrInvalidRequest: the request violates a limit, and this call sent nothing. Correct the request.
//   - ErrNotSent: it is proved that this call sent nothing. This is the only error after which you may make the same call
//     again unchanged; SafeToRetry reports it.
//   - ErrDeclined: final, not paid. DeclinedError holds the transaction with the reason, RefundDeclinedError the refund.
//   - ErrTestPayment: approved, and marked as a test: not paid. Only with Config.TestPayments it counts as paid, for test systems.
//     TestPaymentError holds the transaction.
//   - ErrRefused: the gateway refused to process the request. RefusedError holds its code and text.
//   - ErrOutcomeUnknown: the payment may have happened. Do not repeat it: pass OutcomeUnknownError.Query to
//     Client.Resolve, RefundUnknownError.Query to Client.ResolveRefund. For payments that must survive a crash of the process, use package journal.
//
// ErrInvalidRequest, ErrNotSent and ErrRefused are about this call only: they say nothing about an earlier call with the
// same TransactionID.
//
// A payment is sent at most once. The client retries it only if it is proved that nothing was sent, and then at most twice.
// Queries are retried after transport failures, unreadable responses, HTTP 429 and 5xx.
//
// # Card data
//
// CardNumber, CVV and Token are masked wherever they are printed. Errors and logs contain the path template of an operation,
// never its URL, and texts from the gateway are masked before they are kept. Of an error of a hook, a limiter or a transport,
// only the text is kept, or only the type if the text has a secret: errors.Is and a Timeout method still tell what it was,
// errors.As does not find it. Prefer the hosted page and tokens: then your program never handles card numbers.
//
// # What the interface leaves open
//
// The interface does not document authentication, the payload of notifications, the zone of its wall-clock times, HTTP
// status codes, or the full list of codes. Use Config.Authenticate, Config.Location, the Extra fields of payments and their
// results, and notify.Options for what you know about your gateway. "Published" marks what gateways that implement the
// interface document beyond it.
//
// # Testing
//
// Package sandbox is a complete gateway in your process, with hosted pages, notifications and faults. It needs no account.
package cardgateway
