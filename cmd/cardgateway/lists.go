package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/report"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// listsFlags select the merchant's lists. A section of the configuration file can set those with the tag section.
type listsFlags struct {
	As            string   `placeholder:"NAME" help:"Take the flags of your lists, and those below, from the section [reconcile.NAME] of the configuration file."`
	List          string   `section:"" placeholder:"FILE" file:"read" help:"CSV file (.csv, .csv.gz) or workbook (.xlsx) of your payments: transaction_id or unique_id, amount, currency; optionally state, order, order_total, at."`
	RefundList    string   `section:"" placeholder:"FILE" file:"read" help:"CSV file or workbook of your refunds: refund_id or refund_unique_id, amount, currency; optionally state, order, at."`
	ListDSN       string   `section:"" placeholder:"DATABASE" file:"database" help:"Database with your lists: a SQLite file, postgres:// or mysql://. With a password, set CARDGATEWAY_LIST_DSN or the section of --as instead."`
	ListQuery     string   `section:"" placeholder:"SQL" help:"SELECT statement or table name for your payments in --list-dsn."`
	RefundQuery   string   `section:"" placeholder:"SQL" help:"SELECT statement or table name for your refunds in --list-dsn."`
	Columns       []string `section:"" placeholder:"OURS=YOURS" help:"Column names in your list of payments: transaction_id=Ref,amount=Total. An empty name after = means that there is no such column; at=Date+Time are two columns."`
	RefundColumns []string `section:"" placeholder:"OURS=YOURS" help:"Column names in your list of refunds, as in --columns."`
	ListCurrency  string   `section:"" placeholder:"CODE" help:"Currency of all lines, if your lists have no currency column."`
	Amounts       string   `section:"" placeholder:"EXAMPLE" help:"The amount 1234.50 as your lists write it, such as 1,234.50 or 1.234,50; 123450 if it is in cents. Needed for anything but 1234.50."`
	ListZone      string   `section:"" placeholder:"NAME" help:"Time zone of the times in your lists that state none, such as Europe/Berlin; default that of the gateway."`
	Dates         string   `section:"" placeholder:"FORM" help:"How your lists write dates: DD.MM.YYYY or MM/DD/YYYY, optionally followed by hh:mm:ss. Dates that can mean only one day, like 2026-11-22 or 22 Nov 2026, are read in any case."`
	States        []string `section:"" placeholder:"YOURS=STATE" help:"Your words for approved, declined, processing, redirect and unknown: bezahlt=approved,storniert=declined."`
}

// isSet reports whether a list is to be read.
func (l *listsFlags) isSet() bool {
	return cmp.Or(l.As, l.List, l.RefundList, l.ListQuery, l.RefundQuery) != ""
}

// sources returns where the lists in the flags are read from. It opens nothing.
func (l *listsFlags) sources(c *call) (sources []books.ListSource, err error) {
	dsn := cmp.Or(l.ListDSN, c.getenv(settings.Variable("list-dsn")))
	switch {
	case l.List != "" && l.ListQuery != "", l.RefundList != "" && l.RefundQuery != "":
		return nil, exit.Fail(exit.Failed, "a list is either a file or a query: set --list or --list-query, and --refund-list or --refund-query")
	case l.ListQuery != "" || l.RefundQuery != "":
		if dsn == "" {
			return nil, exit.Fail(exit.Failed, "--list-query and --refund-query require --list-dsn or %s", settings.Variable("list-dsn"))
		}
	case l.ListDSN != "" && l.As == "": // a section sets it for every run
		return nil, exit.Fail(exit.Failed, "--list-dsn requires --list-query or --refund-query")
	}
	common, err := l.common()
	if err != nil {
		return nil, err
	}
	for _, list := range []struct {
		kind              books.Kind
		flag, path, query string
		columnsFlag       string
		columns           []string
		example           string
	}{
		{books.Payment, "--list", l.List, l.ListQuery, "--columns", l.Columns, "transaction_id=Ref"},
		{books.Refund, "--refund-list", l.RefundList, l.RefundQuery, "--refund-columns", l.RefundColumns, "refund_id=Ref"},
	} {
		if list.path == "" && list.query == "" {
			if len(list.columns) > 0 && l.As == "" {
				return nil, exit.Fail(exit.Failed, "%s requires %s", list.columnsFlag, list.flag)
			}
			continue
		}
		source := common
		source.Flag, source.ColumnsFlag = list.flag, list.columnsFlag
		source.Kind, source.Path, source.Query = list.kind, list.path, list.query
		if list.path == "" {
			source.DSN = dsn
		}
		if source.Columns, err = mapping(list.columnsFlag, list.columns, list.example); err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	if len(sources) == 0 && l.As == "" { // a section sets them for every run
		for _, flag := range []struct {
			name  string
			isSet bool
		}{
			{"--list-currency", l.ListCurrency != ""}, {"--amounts", l.Amounts != ""}, {"--list-zone", l.ListZone != ""},
			{"--dates", l.Dates != ""}, {"--states", len(l.States) > 0},
		} {
			if flag.isSet {
				return nil, exit.Fail(exit.Failed, "%s requires --list, --refund-list, --list-query or --refund-query", flag.name)
			}
		}
	}
	return sources, nil
}

// importLists reads the lists, and replaces those in the database by them.
func (c *call) importLists(b *books.Books, sources []books.ListSource) error {
	infos, err := b.Import(c.ctx, sources...)
	if err != nil {
		return booksError("", err)
	}
	for i, info := range infos {
		flag := sources[i].Flag
		c.say("%s: %s lines read from %s, %s not readable", flag, terminal.Thousands(info.Rows), info.Name, terminal.Thousands(info.Unreadable))
		if info.First != "" {
			c.say("%s: the first that is not readable is %s", flag, info.First)
		}
		c.say("%s: %s", flag, report.ReadFrom(info.As))
		if as := report.ReadAs(info.As); as != "" {
			c.say("%s: %s", flag, as)
		}
	}
	return nil
}

// common returns what is common to both lists.
func (l *listsFlags) common() (s books.ListSource, err error) {
	s = books.ListSource{Currency: l.ListCurrency, Amounts: l.Amounts, Dates: l.Dates}
	if l.ListZone != "" {
		if s.Zone, err = settings.LoadZone(l.ListZone); err != nil {
			return s, exit.Fail(exit.Failed, "--list-zone: %q is not a time zone; write a name such as Europe/Berlin or UTC", l.ListZone)
		}
	}
	s.States, err = mapping("--states", l.States, "bezahlt=approved")
	for _, state := range s.States {
		if !books.IsState(state) {
			return s, exit.Fail(exit.Failed, "--states: %q is not a state; there are approved, declined, processing, redirect and unknown", state)
		}
	}
	return s, err
}

// mapping parses pairs of names. Case does not matter in the first ones, which are returned in lower case.
func mapping(flag string, pairs []string, example string) (map[string]string, error) {
	names := map[string]string{}
	for _, pair := range pairs {
		before, after, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, exit.Fail(exit.Failed, "%s: %q has no =; write it as %s", flag, pair, example)
		}
		before = strings.ToLower(strings.TrimSpace(before))
		if _, ok := names[before]; ok {
			return nil, exit.Fail(exit.Failed, "%s: %q is there twice", flag, before)
		}
		names[before] = strings.TrimSpace(after)
	}
	return names, nil
}

// sectionOf returns the name that --as gives, or nothing.
func sectionOf(parsed *kong.Context) string {
	for _, flag := range parsed.Flags() {
		if flag.Name == "as" {
			return flag.Target.String()
		}
	}
	return ""
}

// readSection sets the flags that the section of --as sets, unless they are on the command line. A list on the command line replaces a
// query in the section, and the other way round. On the command line, --list-dsn must not have a password.
func (c *call) readSection(parsed *kong.Context) error {
	flags, given, name := map[string]*kong.Flag{}, map[string]bool{}, sectionOf(parsed)
	for _, flag := range parsed.Flags() {
		if flag.Tag.Has("section") {
			flags[flag.Name] = flag
		}
	}
	for _, at := range parsed.Path {
		if at.Flag != nil {
			given[at.Flag.Name] = true
		}
	}
	if dsn := "list-dsn"; given[dsn] && flags[dsn] != nil && database.HasPassword(flags[dsn].Target.String()) {
		return exit.Fail(exit.Failed, "--list-dsn contains a password, which every user of this machine could read: set %s instead", settings.Variable(dsn))
	}
	if name == "" {
		return nil
	}
	for _, pair := range [][2]string{{"list", "list-query"}, {"refund-list", "refund-query"}} {
		either := given[pair[0]] || given[pair[1]]
		given[pair[0]], given[pair[1]] = either, either
	}
	where, values, err := c.settings.Section(c.source(), name)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		flag := flags[name]
		if flag == nil {
			return exit.Fail(exit.Failed, "%s: there is no setting %q; there are %s", where, name, strings.Join(slices.Sorted(maps.Keys(flags)), ", "))
		}
		if given[name] {
			continue
		}
		if err := flag.Parse(kong.Scan().PushTyped(values[name], kong.FlagValueToken), flag.Target); err != nil {
			return exit.Fail(exit.Failed, "%s: %s: %s", where, name, err)
		}
	}
	return nil
}
