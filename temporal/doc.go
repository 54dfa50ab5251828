// Package temporal makes payments with Temporal, for merchants for whom a few processes on one database are not enough. Temporal
// keeps the timers, finds out that a worker has ended, and spreads the work; package journal still decides what may be sent.
// README.md says who needs this.
//
// A worker runs on each machine:
//
//	w := temporal.Worker{TaskQueue: "shop", Payments: &temporal.Payments{
//		Client: client, Store: store, // as for journal.New
//		Submit: func(ctx context.Context, m temporal.Methods, id journal.ID) error {
//			order, err := orders.Load(ctx, id.Text)
//			if err != nil {
//				return err // nothing was sent: Submit is called again
//			}
//			_, err = m.TokenPayment(ctx, order.Token, order.Request())
//			return err // the journal has it
//		},
//		Report: func(ctx context.Context, e journal.Entry) error { // as for journal.Journal.Run
//			return e.Outcome(func(t *cardgateway.Transaction, err error) error { return orders.Record(ctx, e, t, err) }, nil)
//		},
//	}}
//	err := w.Run(ctx, temporalClient)
//
// The shop starts one workflow for each payment and refund, and tells it about notifications:
//
//	engine := temporal.Engine{Client: temporalClient, TaskQueue: "shop"}
//	run, err := engine.Start(ctx, temporal.Settlement{ID: journal.PaymentID(order.TransactionID)})
//	...
//	err = payments.Confirm(ctx, n.Transaction) // in the function of notify.NewHandler
//	err = engine.Notified(ctx, journal.PaymentID(n.Transaction.TransactionID))
//
// Inputs, results, signals and heartbeats hold ids, states, times and counts only: no card data, no token, no address, no text of
// the gateway or the merchant.
package temporal
