// Command cardgateway looks up, lists, resolves, refunds and reconciles payments of a card gateway, receives and sends its
// notifications, and settles what is open in a shop's journal, without a line of Go.
//
//	cardgateway check
//	cardgateway get 1234567890
//	cardgateway orders --day yesterday
//	cardgateway orders --month 2026-10 --format csv --checkpoint october.json >october.csv
//	cardgateway resolve payment t-1002 --amount 12.50 --currency USD --sent-at "2026-11-22 03:10:00"
//	cardgateway refund 1234567890 --amount 12.50
//	cardgateway listen --forward-to http://localhost:8080/notify --record events.jsonl
//	cardgateway notify http://localhost:8080/notify --wrong-signature
//	cardgateway replay --failed --from events.jsonl
//	cardgateway journal list --older 1h
//	cardgateway reconcile sync --db books.db --from 2026-01-01
//	cardgateway reconcile report --month last --list paid.csv
//	cardgateway sandbox --seed 1000
//
// It ends with 0 (fine), 1 (the answer is no, or something differs), 2 (it could not find out), 3 (sent, and the outcome
// is unknown) or 130 (interrupted). docs/tool.md has an example of every command.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], system{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, configDir: os.UserConfigDir, now: time.Now,
	}))
}

// commands is the command line.
type commands struct {
	settings.Flags `group:"Settings:"`
	Get            getCommand       `cmd:"" help:"Show one payment."`
	Orders         ordersCommand    `cmd:"" help:"List payments of a time range."`
	Refunds        refundsCommand   `cmd:"" help:"List refunds of a time range."`
	Resolve        resolveCommand   `cmd:"" help:"Find out what became of a payment or a refund whose outcome is unknown."`
	Refund         refundCommand    `cmd:"" help:"Give money back."`
	Check          checkCommand     `cmd:"" help:"Check settings, connection, credentials, clock and zone."`
	Reconcile      reconcileCommand `cmd:"" help:"Keep a copy of the gateway in a database, and compare your books with it."`
	Journal        journalCommand   `cmd:"" help:"Look at the journal of a shop, settle what is open in it, and acknowledge."`
	Listen         listenCommand    `cmd:"" help:"Receive notifications, and forward them to a program on this machine."`
	Notify         notifyCommand    `cmd:"" help:"Send a signed notification of a test payment to a handler."`
	Replay         replayCommand    `cmd:"" help:"Send recorded notifications again."`
	Sandbox        sandboxCommand   `cmd:"" passthrough:"" help:"Run a gateway on this machine, to try all this without an account."`
	Shell          shellCommand     `cmd:"" name:"completion" help:"Print what a shell needs to complete commands and flags."`
	Man            manCommand       `cmd:"" help:"Print the man page."`
	Version        kong.VersionFlag `help:"Print the version."`
}

// run executes the command and returns the exit code. Whatever goes wrong has been said on sys.err by then.
func run(ctx context.Context, args []string, sys system) int {
	var cli commands
	exited := false
	parser, err := kong.New(&cli,
		kong.Name("cardgateway"), kong.Description(description), kong.Help(printHelp), kong.Writers(sys.out, sys.err),
		kong.Vars{"version": version()}, kong.Exit(func(int) { exited = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return exit.Report(sys.err, fmt.Errorf("command line: %w", err))
	}
	parsed, err := parser.Parse(args)
	if exited { // --help or --version was printed
		return exit.OK
	}
	if err != nil {
		return exit.Report(sys.err, usageError(args, err))
	}
	c := &call{system: sys, ctx: ctx, settings: &cli.Flags}
	if err := c.checkMetricsFile(); err != nil {
		return exit.Report(sys.err, err)
	}
	begun := time.Now()
	code := exit.Report(sys.err, parsed.Run(c))
	if err := c.writeMetrics(parsed.Selected().Path(), begun, code); err != nil {
		exit.Report(sys.err, err) // the code says what the command did: 2 would say that no refund was made
	}
	return code
}
