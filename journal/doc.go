// Package journal makes payments and refunds survive crashes, also with several processes: none is sent twice, and none is
// lost.
//
// A Journal has the five payment methods of cardgateway.Client, and CreateRefund. Each call first records what it is
// about to do in a Store, durably and unique by transactionId, and only then sends. If the store cannot be written, nothing
// is sent. The outcome is recorded before it is returned.
//
//	store, err := sqlite.Open(ctx, "/var/lib/shop/payments.db") // or package journal/sqlstore
//	if err != nil {
//		return err
//	}
//	payments := journal.New(client, store, journal.Options{Gateway: "candles"}) // the name of the shop, for ever
//
//	t, err := payments.CreateCheckout(ctx, req) // as on the client, with the same errors
//	switch {
//	case err == nil && !client.Paid(t): // to be paid at t.RedirectURL, or in processing: Run reports how it ends
//		return t, nil
//	case err == nil, errors.Is(err, cardgateway.ErrDeclined), errors.Is(err, cardgateway.ErrTestPayment): // final
//		... // store it in your own database, and then:
//		if err := payments.Ack(ctx, journal.PaymentID(req.TransactionID), journal.StateOf(t, err)); err != nil {
//			log.Print(err) // Run reports the outcome again
//		}
//	case errors.Is(err, journal.ErrMismatch): // another payment has this transactionId: use a new one
//	case cardgateway.SafeToRetry(err): // this call sent nothing: make it again
//	case errors.Is(err, cardgateway.ErrInvalidRequest): // correct the request; nothing was sent
//	case errors.Is(err, cardgateway.ErrRefused): // correct the cause, then use AfterRefusal
//	default: // ErrOutcomeUnknown: do not pay again, Run reports the outcome
//	}
//
// Every process of the shop calls Run for as long as it runs; one of them works, and finds the outcomes that are not known yet:
//
//	err := payments.Run(ctx, 0, func(ctx context.Context, e journal.Entry) error {
//		return e.Outcome(func(t *cardgateway.Transaction, err error) error { // the same results and errors as above
//			...        // store it in your own database; this must be idempotent
//			return nil // stored: Run acknowledges it
//		}, nil) // and a function for refunds, if the program makes any
//	})
//
// Run queries the gateway for every payment that is not final, and reports every outcome until it is acknowledged: a program that
// crashes before it has stored an outcome gets it again. Use Recover and Ack for a loop of your own. Run acknowledges
// exactly the version that it has reported. Ack says which state you have stored, and acknowledges an entry that has this state
// now, whichever process reported it. Pass what a notification or a walk has confirmed to Confirm; it then needs no query, and
// Run reports it at once.
//
// Refunds work like payments, and everything said here about payments applies to them too. RefundID names a refund; a payment
// and a refund may have the same id. The differences have their own names:
//
//	r, err := payments.CreateRefund(ctx, req)              // as on the client
//	err = payments.ConfirmRefund(ctx, notification.Refund) // instead of Confirm
//
// Calling a payment method again with the same transactionId never sends a second time after anything may have been sent;
// it returns what is known. "Not sent" and "mismatch" are about the call that returns them, and not about earlier calls. So
// it is safe to repeat the call with the same transactionId, but not with another one. A store that is restored from
// a backup does not contain later payments, and a call with one of their ids makes it again: before the program starts, pass what
// Client.Orders and Client.Refunds return since the backup to Restore and RestoreRefund.
//
// A payment that the gateway does not know is open until Options.AbsentAfter, and then presumed absent. That is a
// presumption, not a proof: a request can arrive late. Recover keeps querying, less and less often, and reports a
// success that appears within two years as a conflict. A payment that the gateway has returned once is never presumed
// absent. The computer's clock must not be more than two days ahead when a payment is made: the search for it starts at that time.
// Paying again in the meantime is your decision; see Journal.PayAgainRiskingSecondCharge.
//
// A payment that waits for the cardholder on the hosted page is Abandoned after the client's HostedPageLifetime, so that
// checkouts that nobody finishes come to an end. Until then a decline there is one attempt, because the cardholder may try
// another card.
//
// Entries belong to a Shop, which is Options.Gateway and the appId, so that several shops can share a store.
//
// No store ever contains a card number, a verification code, a token, or anything derived from one, nor free text from the
// gateway, which could contain one.
package journal
