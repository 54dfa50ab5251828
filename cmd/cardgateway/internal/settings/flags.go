// Package settings finds the settings of the program, in flags, the environment and a file, and makes the client that they
// describe.
package settings

import (
	"slices"
	"strings"
)

// Flags are the flags that every command has.
type Flags struct {
	Config        string `placeholder:"FILE" help:"File with settings."`
	Profile       string `placeholder:"NAME" help:"Profile in that file: its settings count before the others there."`
	BaseURL       string `name:"base-url" placeholder:"URL" help:"Address of the gateway. Required."`
	AppID         string `name:"app-id" placeholder:"DIGITS" help:"The merchant's app. Required."`
	MerchantID    string `name:"merchant-id" placeholder:"ID" help:"User name of HTTP Basic; with the secret key."`
	SecretFile    string `name:"secret-file" placeholder:"FILE" help:"File that holds the secret key and nothing else."`
	SecretCommand string `name:"secret-command" placeholder:"COMMAND" help:"Command for sh that prints the secret key and nothing else."`
	Zone          string `placeholder:"NAME" help:"Zone of the gateway's times and of yours, such as Asia/Shanghai; UTC+8 if not set."`
	Timeout       string `placeholder:"DURATION" help:"Longest time of one request; 30s if not set."`
	Journal       string `placeholder:"PLACE" help:"The shop's journal: a SQLite file, or postgres://... or mysql://... without a password."`
	DB            string `name:"db" placeholder:"DATABASE" help:"Of reconcile: a SQLite file, or postgres://user@host/database."`
	MetricsFile   string `name:"metrics-file" placeholder:"FILE" help:"Write how the command ended, for the node exporter: a file that ends with .prom."`
	Verbose       bool   `short:"v" help:"A line on stderr for every request."`
	Quiet         bool   `short:"q" help:"No progress and no sums on stderr."`
}

// The names of settings that commands ask for.
const (
	Journal  = "journal" // where the journal of the shop is
	Database = "db"      // where the copy of the gateway is
	Secret   = "secret"  // the secret key: the one setting that has no flag
)

// secretNames are the settings that name the secret key: directly, by a file or by a command.
var secretNames = []string{Secret, "secret-file", "secret-command"}

// Setting is one setting, and where its value comes from.
type Setting struct {
	Name  string
	Value string
	From  string // in words; empty if it is not set
}

// flags returns the settings that have a flag, in the order in which check shows them.
func (f *Flags) flags() []Setting {
	all := []Setting{
		{Name: "base-url", Value: f.BaseURL}, {Name: "app-id", Value: f.AppID}, {Name: "merchant-id", Value: f.MerchantID},
		{Name: "secret-file", Value: f.SecretFile}, {Name: "secret-command", Value: f.SecretCommand}, {Name: "zone", Value: f.Zone},
		{Name: "timeout", Value: f.Timeout}, {Name: Journal, Value: f.Journal}, {Name: Database, Value: f.DB},
	}
	for i := range all {
		if all[i].Value != "" {
			all[i].From = "flag --" + all[i].Name
		}
	}
	return all
}

// find returns the setting of a name.
func find(list []Setting, name string) *Setting {
	return &list[slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })]
}

// Variable is the environment variable of a setting.
func Variable(name string) string {
	return "CARDGATEWAY_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// AsFlags returns the settings that were given as flags, for a command that is printed to be run next.
func (f *Flags) AsFlags() (args []string) {
	if f.Config != "" {
		args = append(args, "--config", f.Config)
	}
	if f.Profile != "" {
		args = append(args, "--profile", f.Profile)
	}
	for _, set := range f.flags() {
		if set.Value != "" {
			args = append(args, "--"+set.Name, set.Value)
		}
	}
	return args
}
