package main

// reconcileCommand is the group of the commands that work on a copy of the gateway.
type reconcileCommand struct {
	Sync   syncCommand   `cmd:"" help:"Bring a copy of the gateway's orders and refunds up to date."`
	Match  matchCommand  `cmd:"" help:"Compare your list of payments with the copy, and list the differences."`
	Report reportCommand `cmd:"" help:"Compare, and write a page for finance, with CSV and JSON beside it."`
	Run    runCommand    `cmd:"" help:"Sync, match and report in one, for cron. Without any setting: a demonstration."`
}
