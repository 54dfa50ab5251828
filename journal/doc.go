// Package journal makes payments and refunds survive crashes and many processes: none is sent twice, and none is
// forgotten.
//
// A Journal has the five payment methods of cardgateway.Client, and CreateRefund. Each call first writes what it is
// about to do into a Store, durable and unique by transactionId, and only then sends; a store that cannot be written
// means that nothing is sent. What came of it is written before it is returned, with one exception: a SQLStore writes an
// approval up to 10 ms later, together with others, since it can be asked for again. A process that is killed within that
// time leaves the payment open, and Recover finds the approval by asking. Call SQLStore.Flush before you close the database.
//
//	store, err := sqlite.Open(ctx, "/var/lib/shop/payments.db") // of module journal/sqlite; or NewSQLStore
//	if err != nil {
//		return err
//	}
//	payments := journal.New(client, store, journal.Options{})
//
//	t, err := payments.CreateCheckout(ctx, req) // as on the client, with the same errors
//	switch {
//	case err == nil && !t.Paid(): // to be paid at t.RedirectURL, or in processing: Run tells how it ends
//		return t, nil
//	case err == nil, errors.Is(err, cardgateway.ErrDeclined): // final
//		... // into the shop's own books, and then:
//		if err := payments.Ack(ctx, req.TransactionID); err != nil {
//			log.Print(err) // Run tells the outcome again
//		}
//	case errors.Is(err, journal.ErrMismatch): // another payment has this transactionId: take a new one
//	case cardgateway.SafeToRetry(err): // this call sent nothing: make it again
//	case errors.Is(err, cardgateway.ErrInvalidRequest): // correct the request; nothing was sent
//	case errors.Is(err, cardgateway.ErrRefused): // correct what was refused, and then AfterRefusal
//	default: // ErrOutcomeUnknown: do not pay again, Run tells what became of it
//	}
//
// One process of the shop settles, from its start to its end:
//
//	err := payments.Run(ctx, time.Minute, func(ctx context.Context, e journal.Entry) error {
//		t, err := e.Outcome() // the same results and errors as above
//		...                   // into the shop's own books, where a repetition must do no harm
//		return nil            // the books have it
//	})
//
// Run asks the gateway about every payment that is open, and repeats every outcome until the books have it: a
// program that dies between an outcome and its own books is told again. Recover and Ack are for a loop of your own; Run
// acknowledges just what it has told, and Ack what was told last, whoever was told. What a notification or a walk has
// confirmed is handed to Confirm, and need not be asked for.
//
// Refunds go the same way as payments, and what is said here of payments holds for them too. A payment and a refund may
// have equal ids. What differs has a name of its own:
//
//	r, err := payments.CreateRefund(ctx, req)              // as on the client
//	if id := e.RefundTransactionID(); id != "" {           // in Run and Recover: a refund
//		r, err := e.RefundOutcome()                    // in place of Outcome
//	}
//	err = payments.AckRefund(ctx, refundTransactionID)     // in place of Ack
//	err = payments.ConfirmRefund(ctx, notification.Refund) // in place of Confirm
//
// Calling a payment method again with the same transactionId never sends a second time after anything may have been sent;
// it returns what is known. "Not sent" and "mismatch" speak of the call that returns them, and of no call before it. So
// the same call with the same transactionId is safe then, and another transactionId is not. A store that is restored from
// a backup has forgotten payments: settle by Client.Orders which of them exist before any of their calls is made again.
//
// A payment that the gateway does not know is open until Options.AbsentAfter, and then presumed absent. That is a
// presumption and no proof: a request can be delivered late. Recover keeps asking, ever more rarely, and reports a
// success that comes after all, within two years, as a conflict. What the gateway has shown once is never presumed absent.
// The computer's clock must be right when a payment is made: a submission is looked for from that time on. Paying again
// meanwhile is a decision; see Journal.PayAgainRiskingSecondCharge.
//
// A payment that waits for its cardholder on the gateway's page is Abandoned after Options.AbandonAfter, which is how
// checkouts that nobody finishes come to an end. Until then a decline there is one attempt, since the cardholder may try
// another card.
//
// Entries belong to a Shop, the gateway's base URL and the appId, so that several shops can share a store.
//
// No store ever holds a card number, a verification code, a token, or anything computed from one, nor the gateway's
// free texts, in which one could be echoed.
package journal
