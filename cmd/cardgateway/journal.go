package main

// journalCommand inspects the journal of a shop (package journal). It can run at the same time as the shop's program.
type journalCommand struct {
	List journalList `cmd:"" help:"List the entries that the shop has not acknowledged."`
	Show journalShow `cmd:"" help:"Show everything that is known about a payment or refund, and what the journal does next."`
	Run  journalRun  `cmd:"" help:"Query the gateway for entries without an outcome, and record the results."`
	Ack  journalAck  `cmd:"" help:"Acknowledge an outcome that is in the shop's database."`
}
