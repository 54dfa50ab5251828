// Command reconcile keeps a copy of a gateway's orders and refunds in a database, up to date from run to run, and
// compares it with the merchant's own list of payments. Without flags it starts a sandbox in this process, with three
// months of orders and a list that has three mistakes:
//
//	go run ./examples/reconcile
//
// With flags, or the environment variables of the same names, it reads a real gateway. It can be killed at any moment
// and started again.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// settings come from flags or the environment.
type settings struct {
	gateway, appID, merchantID, secretKey string
	db, from, list                        string

	out io.Writer // for what was found
	log io.Writer // for progress
}

// errDiffer says that the comparison went well, and what it found did not.
var errDiffer = errors.New("the list and the gateway differ")

func main() {
	s := settings{out: os.Stdout, log: os.Stderr}
	setting := func(target *string, name, env, usage string) {
		flag.StringVar(target, name, os.Getenv(env), usage+" (or $"+env+")")
	}
	setting(&s.gateway, "base-url", "CARDGATEWAY_BASE_URL", "base URL of a real gateway; empty starts a sandbox")
	setting(&s.appID, "app-id", "CARDGATEWAY_APP_ID", "the app's id")
	setting(&s.merchantID, "merchant-id", "CARDGATEWAY_MERCHANT_ID", "merchant id for HTTP Basic; empty sends no credentials")
	setting(&s.secretKey, "secret-key", "CARDGATEWAY_SECRET_KEY", "secret key for HTTP Basic; prefer the variable, flags are seen by other users")
	setting(&s.db, "db", "RECONCILE_DB", "SQLite file or postgres:// URL; default :memory: with the sandbox, reconcile.db otherwise")
	setting(&s.from, "from", "RECONCILE_FROM", "first day to copy, as 2006-01-02 in UTC; needed once, for new books")
	setting(&s.list, "list", "RECONCILE_LIST", "CSV file of what should be paid: transaction_id, amount, currency; empty compares nothing")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, s); {
	case errors.Is(err, errDiffer):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "reconcile:", err)
		os.Exit(2)
	}
}

// run is the whole program: bring the books up to date, then compare. It returns errDiffer where that found something.
func run(ctx context.Context, s settings) (err error) {
	if s.gateway == "" {
		return runDemo(ctx, s)
	}
	books, client, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, books.Close()) }()
	from, err := s.firstDay()
	if err != nil {
		return err
	}
	if err := s.copy(ctx, client, books, from); err != nil {
		return err
	}
	if s.list == "" {
		return nil
	}
	list, err := os.Open(s.list)
	if err != nil {
		return err
	}
	defer func() { _ = list.Close() }() // it was only read
	return s.compare(ctx, books, list)
}

func (s settings) open(ctx context.Context) (*Books, *cardgateway.Client, error) {
	config := cardgateway.Config{BaseURL: s.gateway, AppID: cardgateway.AppID(s.appID)}
	if s.merchantID != "" {
		config.Authenticate = cardgateway.BasicAuth(s.merchantID, s.secretKey)
	}
	client, err := cardgateway.New(config)
	if err != nil {
		return nil, nil, err
	}
	books, err := OpenBooks(ctx, cmp.Or(s.db, "reconcile.db"), cardgateway.DefaultLocation)
	return books, client, err
}

func (s settings) firstDay() (time.Time, error) {
	if s.from == "" {
		return time.Time{}, nil
	}
	from, err := time.Parse(time.DateOnly, s.from)
	if err != nil {
		return time.Time{}, fmt.Errorf("-from %s is not a day like 2006-01-02", shown(s.from))
	}
	return from, nil
}

// copy brings the books up to date and says what they hold.
func (s settings) copy(ctx context.Context, client *cardgateway.Client, books *Books, from time.Time) error {
	c := copier{client: client, books: books, from: from, progress: s.progress()}
	if err := c.run(ctx); err != nil {
		return err
	}
	held, err := books.Held(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%d orders (%d approved) and %d refunds, complete from %s to %s\n", held.Orders, held.Approved, held.Refunds,
		held.Since.UTC().Format(time.DateTime), held.Complete.UTC().Format(time.DateTime))
	return nil
}

// progress returns a function that writes a line every second, and at the end of a walk.
func (s settings) progress() func(string, cardgateway.Progress) {
	var written time.Time
	var last string
	return func(kind string, p cardgateway.Progress) {
		line := fmt.Sprintf("%-8s %3.0f%%  %d rows in %d requests\n", kind, 100*p.Fraction, p.Rows, p.Requests)
		if p.Fraction < 1 && time.Since(written) < time.Second || line == last {
			return
		}
		written, last = time.Now(), line
		fmt.Fprint(s.log, line)
	}
}

// compare writes the differences as a table.
func (s settings) compare(ctx context.Context, books *Books, list io.Reader) error {
	if err := books.ReadList(ctx, list); err != nil {
		return err
	}
	n := 0
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	err := books.Compare(ctx, func(d Difference) {
		if n++; n == 1 {
			fmt.Fprintln(table, "what\ttransaction\tgateway\tlist")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", d.What, shown(d.TransactionID), shown(d.Gateway), shown(d.List))
	})
	switch err := errors.Join(err, table.Flush()); {
	case err != nil:
		return err
	case n > 0:
		fmt.Fprintf(s.out, "differences: %d\n", n)
		return errDiffer
	}
	fmt.Fprintln(s.out, "the list and the gateway agree")
	return nil
}
