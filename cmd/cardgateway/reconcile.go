package main

// reconcileCommand groups the commands that use a copy of the gateway's data.
type reconcileCommand struct {
	Sync   syncCommand   `cmd:"" help:"Update a copy of the gateway's orders and refunds."`
	Match  matchCommand  `cmd:"" help:"Compare your list of payments with the copy, and list the differences."`
	Report reportCommand `cmd:"" help:"Compare, and write a report for finance as HTML, CSV and JSON."`
	Run    runCommand    `cmd:"" help:"Run sync, match and report, for cron. --demo shows a demonstration."`
}
