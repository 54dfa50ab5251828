// Package journal makes payments survive crashes and many processes: no payment is sent twice, and none is forgotten.
//
// A Journal has the five payment methods of cardgateway.Client. Each call first writes what it is about to do into a
// Store, durable and unique by transactionId, and only then sends; a store that cannot be written means that nothing
// is sent. What came of it is written before it is returned.
//
//	store, err := sqlite.Open(ctx, "/var/lib/shop/payments.db") // of journal/sqlite; or NewSQLStore
//	if err != nil {
//		return err
//	}
//	payments := journal.New(client, store, journal.Options{})
//
//	t, err := payments.CreateCheckout(ctx, req) // as on the client, with the same errors
//	switch {
//	case err == nil && !t.Paid(): // to be paid at t.RedirectURL, or in processing: Recover tells how it ends
//		return t, nil
//	case err == nil, errors.Is(err, cardgateway.ErrDeclined): // final
//		... // into the shop's own books, and then:
//		if err := payments.Ack(ctx, req.TransactionID); err != nil {
//			log.Print(err) // Recover tells the outcome again
//		}
//	case cardgateway.SafeToRetry(err): // this call sent nothing: make it again
//	case errors.Is(err, cardgateway.ErrInvalidRequest): // correct the request; nothing was sent
//	default: // ErrOutcomeUnknown: do not pay again, Recover tells what became of it
//	}
//
// At the start of the program, and every minute or so from then on, one process recovers:
//
//	for e, err := range payments.Recover(ctx) {
//		if err != nil {
//			return err // the store failed; try again later
//		}
//		t, err := e.Outcome() // the same results and errors as above
//		...                   // into the shop's own books, where a repetition must do no harm
//		switch e.State() {
//		case journal.Unknown, journal.Pending, journal.Refused, journal.PresumedAbsent: // told again; see Ack
//		default:
//			if err := payments.Ack(ctx, e.TransactionID()); err != nil {
//				log.Print(err)
//			}
//		}
//	}
//
// Recover asks the gateway about every payment that is open, and repeats every outcome until it is acknowledged: a
// program that dies between an outcome and its own books is told again. Calling a payment method again with the
// same transactionId never sends a second time after anything may have been sent; it returns what is known. If the
// store cannot be read, ErrNotSent speaks of that call alone: what earlier calls did is in the store. The same call
// with the same transactionId is safe then, and another transactionId is not. A store that is restored from a backup has
// forgotten payments: settle by Client.Orders which of them exist before any of their calls is made again.
//
// A payment that the gateway does not know is open until Options.AbsentAfter, and then presumed absent. That is a
// presumption and no proof: a request can be delivered late. Recover keeps asking, ever more rarely, and reports a
// success that comes after all, within two years, as a conflict. The computer's clock must be right when a payment is
// made: a submission is looked for from that time on. Paying again meanwhile is a decision; see
// Journal.PayAgainRiskingSecondCharge.
//
// No store ever holds a card number, a verification code, a token, or anything computed from one, nor the gateway's
// free texts, in which one could be echoed.
package journal
