package main

// journalCommand looks at the journal of a shop (package journal), beside the shop's own program.
type journalCommand struct {
	List journalList `cmd:"" help:"List what the shop has not acknowledged."`
	Show journalShow `cmd:"" help:"Show all that is known of one payment or refund, and what comes next."`
	Run  journalRun  `cmd:"" help:"Ask the gateway about what is open, and record what it says."`
	Ack  journalAck  `cmd:"" help:"Acknowledge an outcome that the shop's books have."`
}
