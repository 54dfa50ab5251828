// Package settings reads the settings of the program from flags, the environment and a file, and creates the client from them.
package settings

import (
	"slices"
	"strings"
)

// Flags are the flags that every command has.
type Flags struct {
	Config             string `placeholder:"FILE" help:"Configuration file."`
	BaseURL            string `placeholder:"URL" help:"Base URL of the gateway. Required."`
	AppID              string `placeholder:"DIGITS" help:"The appId. Required."`
	AnyApp             bool   `help:"Take payments that state another appId for those of this app, too."`
	TestPayments       bool   `help:"The gateway is a test system: take what it marks as a test for paid."`
	MerchantID         string `placeholder:"ID" help:"Merchant id, the user name for HTTP Basic."`
	SecretFile         string `placeholder:"FILE" help:"File that contains only the secret key."`
	Zone               string `placeholder:"NAME" help:"Time zone of the gateway, also used for your input and the output, such as Asia/Shanghai; default UTC+8."`
	HostedPageLifetime string `placeholder:"DURATION" help:"Config.HostedPageLifetime of the shop's program: how long the cardholder can use the hosted page, such as 12h or 3d; default 24h."`
	Timeout            string `placeholder:"DURATION" help:"Timeout of one request; default 30s."`
	Journal            string `placeholder:"DATABASE" help:"The shop's journal: a SQLite file, or postgres://... or mysql://... without a password."`
	DB                 string `placeholder:"DATABASE" help:"Database for reconcile: a SQLite file, or postgres://user@host/database."`
	Verbose            bool   `short:"v" help:"Print a line on stderr for every request."`
	Quiet              bool   `short:"q" help:"Do not print progress and totals on stderr."`
}

// The names of settings that commands use.
const (
	AnyApp       = "any-app"       // true or false: what states another appId is accepted, too
	TestPayments = "test-payments" // true or false: Config.TestPayments
	Journal      = "journal"       // location of the shop's journal
	Database     = "db"            // location of the copy of the gateway
	Secret       = "secret"        // the secret key: the one setting that has no flag
)

// switches are the settings that are true or false.
var switches = []string{AnyApp, TestPayments}

// Setting is one setting, with the source of its value.
type Setting struct {
	Name  string
	Value string
	From  string // the source; empty if it is not set
}

// flags returns the settings that have a flag, in the order in which check shows them.
func (f *Flags) flags() []Setting {
	isSet := func(flag bool) string {
		if flag {
			return "true"
		}
		return ""
	}
	all := []Setting{
		{Name: "base-url", Value: f.BaseURL}, {Name: "app-id", Value: f.AppID}, {Name: AnyApp, Value: isSet(f.AnyApp)},
		{Name: TestPayments, Value: isSet(f.TestPayments)},
		{Name: "merchant-id", Value: f.MerchantID}, {Name: "secret-file", Value: f.SecretFile},
		{Name: "zone", Value: f.Zone}, {Name: "hosted-page-lifetime", Value: f.HostedPageLifetime}, {Name: "timeout", Value: f.Timeout},
		{Name: Journal, Value: f.Journal}, {Name: Database, Value: f.DB},
	}
	for i := range all {
		if all[i].Value != "" {
			all[i].From = "flag --" + all[i].Name
		}
	}
	return all
}

// find returns the setting with a name.
func find(list []Setting, name string) *Setting {
	return &list[slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })]
}

// Variable returns the environment variable of a setting.
func Variable(name string) string {
	return "CARDGATEWAY_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// AsFlags returns the settings that were set with flags, for a command that is printed.
func (f *Flags) AsFlags() (args []string) {
	if f.Config != "" {
		args = append(args, "--config", f.Config)
	}
	for _, set := range f.flags() {
		switch {
		case set.Value != "" && slices.Contains(switches, set.Name):
			args = append(args, "--"+set.Name)
		case set.Value != "":
			args = append(args, "--"+set.Name, set.Value)
		}
	}
	return args
}
