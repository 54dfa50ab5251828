package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

const description = `Look up, list, resolve, refund and reconcile payments of a card gateway, receive and send its notifications, and settle a shop's journal.`

const helpEnd = `
Settings: a flag counts before the environment, the environment before the file. The variable of --base-url is
CARDGATEWAY_BASE_URL, and so on. The file is TOML with the names of the flags (base-url = "https://..."): --config,
CARDGATEWAY_CONFIG, or cardgateway/config.toml in the user's configuration directory.
The secret key is never a flag: CARDGATEWAY_SECRET, or a file or a command named by --secret-file or --secret-command.

Exit codes:
    0  fine
    1  the answer is no (not found, declined, not wanted), something differs, or a notification failed
    2  could not find out: wrong use, settings, network, credentials
    3  sent, and the outcome is unknown: never send again; the command that settles it is printed
  130  interrupted
`

// printHelp prints a command's help, and below it what every command needs: settings and exit codes.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	_, err := fmt.Fprint(ctx.Stdout, helpEnd)
	return err
}

// usageError says what is wrong with the command line, and where help is. Values of flags are not repeated.
func usageError(args []string, err error) error {
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); name == "--secret" {
			return exit.Fail(exit.NoAnswer, "the secret key is not given as a flag, where every user of this machine can read it: "+
				"set CARDGATEWAY_SECRET, or name a file with --secret-file")
		}
	}
	command := "cardgateway"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && !strings.Contains(err.Error(), "unexpected argument "+args[0]) {
		command += " " + terminal.Clean(args[0])
	}
	return exit.Fail(exit.NoAnswer, "%s; see %s --help", terminal.Clean(err.Error()), command)
}

// version is that of the module this program was built from, or of the client if it was built in a clone.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return "cardgateway " + info.Main.Version
	}
	return "cardgateway " + cardgateway.Version + " (built in a clone)"
}
