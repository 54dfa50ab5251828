package main

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
)

const description = `Look up, list and refund payments of a card gateway, resolve unknown outcomes, reconcile the gateway's data with your own, receive and send notifications, and inspect a shop's journal.`

const helpEnd = `
Configuration: flags override environment variables, and environment variables override the configuration file. The
variable for --base-url is CARDGATEWAY_BASE_URL, and so on. The file is TOML, with the names of the flags
(base-url = "https://..."). Set its path with --config or CARDGATEWAY_CONFIG; the default is cardgateway/config.toml in
the user's configuration directory.
There is no flag for the secret key: set CARDGATEWAY_SECRET, or use --secret-file.

Exit codes:
    0  success
    1  negative result: not found, declined, refused, not confirmed, differences found, rows not checked, or a notification failed
    2  no result: wrong usage, configuration, network or credentials; no refund was made
    3  sent, but the outcome is unknown or not final: do not send again; run the command that is printed
    4  journal run: a conflict; money may have moved twice
    5  journal run: an outcome has been unknown for longer than it should be
    6  orders, refunds, reconcile sync: done, except for rows of the gateway that cannot be read
  130  interrupted
`

// printHelp prints the help of a command, followed by helpEnd.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	_, err := fmt.Fprint(ctx.Stdout, helpEnd)
	return err
}

// noValue is what the parser says of a flag at the end of the command line that needs a value.
var noValue = regexp.MustCompile(`expected \w+ value but got "EOL" \(<EOL>\)`)

// usageError says what is wrong with the command line, and where to find help.
func usageError(args []string, err error) error {
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); name == "--secret" {
			return exit.Fail(exit.Failed, "there is no flag for the secret key, because every user of this machine could read it: "+
				"set CARDGATEWAY_SECRET, or use --secret-file")
		}
	}
	command := "cardgateway"
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok && wrong.Context.Selected() != nil {
		command += " " + wrong.Context.Selected().Path()
	}
	text := noValue.ReplaceAllString(err.Error(), "the value is missing")
	text = strings.Replace(text, `one of "",`, "one of ", 1) // the default of a flag without one
	return exit.Fail(exit.Failed, "%s; see %s --help", text, command)
}

// checkEmptyFlags rejects a flag with an empty value, such as that of a variable that a script has not set: it would be ignored, so that
// another file is used, or all rows are listed. With --as, an empty value overrides that of the section.
func checkEmptyFlags(parsed *kong.Context) error {
	hasSection := sectionOf(parsed) != ""
	for _, at := range parsed.Path {
		if at.Flag == nil || hasSection && at.Flag.Tag.Has("section") {
			continue
		}
		if kind := at.Flag.Target.Kind(); (kind == reflect.String || kind == reflect.Slice) && at.Flag.Target.Len() == 0 {
			return exit.Fail(exit.Failed, "--%s: the value is empty; set one, or omit the flag", at.Flag.Name)
		}
	}
	return nil
}

// version returns the version of this module, or that of the client if the program was built in a clone.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return "cardgateway " + info.Main.Version
	}
	return "cardgateway " + cardgateway.Version + " (built in a clone)"
}
