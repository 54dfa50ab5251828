package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/database"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/terminal"
)

// listsFlags select the merchant's lists.
type listsFlags struct {
	List          string   `placeholder:"FILE" file:"read" help:"CSV file of your payments: transaction_id, amount, currency; optionally state, order, at."`
	RefundList    string   `placeholder:"FILE" file:"read" help:"CSV file of your refunds: refund_id, amount, currency; optionally transaction_id, at."`
	ListDSN       string   `name:"list-dsn" placeholder:"DATABASE" file:"database" help:"Database with your lists: a SQLite file, postgres:// or mysql://. With a password, set CARDGATEWAY_LIST_DSN instead."`
	ListQuery     string   `placeholder:"SQL" help:"SELECT statement or table name for your payments in --list-dsn."`
	RefundQuery   string   `placeholder:"SQL" help:"SELECT statement or table name for your refunds in --list-dsn."`
	Columns       []string `placeholder:"OURS=YOURS" help:"Column names in your list of payments: transaction_id=Ref,amount=Total. An empty name after = means that there is no such column."`
	RefundColumns []string `placeholder:"OURS=YOURS" help:"Column names in your list of refunds, as in --columns."`
	ListCurrency  string   `placeholder:"CODE" help:"Currency of all lines, if your lists have no currency column."`
	DecimalComma  bool     `help:"Amounts in your lists are written like 1.234,50."`
}

// isSet reports whether a list is to be read.
func (l *listsFlags) isSet() bool {
	return cmp.Or(l.List, l.RefundList, l.ListQuery, l.RefundQuery) != ""
}

// importLists reads the lists in the flags, and replaces those in the database by them.
func (l *listsFlags) importLists(c *call, b *books.Books) error {
	dsn := cmp.Or(l.ListDSN, c.getenv(settings.Variable("list-dsn")))
	switch {
	case database.HasPassword(l.ListDSN):
		return exit.Fail(exit.Failed, "--list-dsn contains a password, which every user of this machine could read: set %s instead", settings.Variable("list-dsn"))
	case l.List != "" && l.ListQuery != "", l.RefundList != "" && l.RefundQuery != "":
		return exit.Fail(exit.Failed, "a list is either a file or a query: set --list or --list-query, and --refund-list or --refund-query")
	case l.ListQuery != "" || l.RefundQuery != "":
		if dsn == "" {
			return exit.Fail(exit.Failed, "--list-query and --refund-query require --list-dsn or %s", settings.Variable("list-dsn"))
		}
	case l.ListDSN != "":
		return exit.Fail(exit.Failed, "--list-dsn requires --list-query or --refund-query")
	}
	for _, list := range []struct {
		flag, path, query string
		columnsFlag       string
		columns           []string
		read              func(context.Context, books.ListSource) (books.ListInfo, error)
	}{
		{"--list", l.List, l.ListQuery, "--columns", l.Columns, b.ImportPayments},
		{"--refund-list", l.RefundList, l.RefundQuery, "--refund-columns", l.RefundColumns, b.ImportRefunds},
	} {
		if list.path == "" && list.query == "" {
			if len(list.columns) > 0 {
				return exit.Fail(exit.Failed, "%s requires %s", list.columnsFlag, list.flag)
			}
			continue
		}
		source := books.ListSource{Path: list.path, Query: list.query, Currency: l.ListCurrency, DecimalComma: l.DecimalComma}
		if list.path == "" {
			source.DSN = dsn
		}
		var err error
		if source.Columns, err = mapping(list.columnsFlag, list.columns); err != nil {
			return err
		}
		info, err := list.read(c.ctx, source)
		if err != nil {
			return booksError(list.flag+": ", err)
		}
		c.say("%s: %s lines read from %s, %s not readable", list.flag, terminal.Thousands(info.Rows), terminal.Clean(info.Name), terminal.Thousands(info.Unreadable))
	}
	return nil
}

// mapping parses column names.
func mapping(flag string, pairs []string) (map[string]string, error) {
	names := map[string]string{}
	for _, pair := range pairs {
		ours, yours, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, exit.Fail(exit.Failed, "%s: %q is not OURS=YOURS, such as transaction_id=Ref", flag, terminal.Clean(pair))
		}
		names[strings.TrimSpace(ours)] = strings.TrimSpace(yours)
	}
	return names, nil
}
