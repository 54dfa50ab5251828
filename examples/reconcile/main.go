// Command reconcile keeps a copy of a gateway's orders and refunds in a database, up to date from run to run, and
// compares it with the merchant's own list of payments. Without flags it starts a sandbox in this process, with three
// months of orders and a list that has three mistakes:
//
//	go run ./examples/reconcile
//
// With flags, or the environment variables that -h names, it reads a real gateway. It can be killed at any moment
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
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	_ "time/tzdata" // -zone is to be known on every machine

	"github.com/cardgateway/cardgateway-go"
)

// settings come from flags or the environment.
type settings struct {
	gateway, appID, merchantID, secretKey string
	zone, db, from, list                  string

	out io.Writer // for what was found
	log io.Writer // for progress
}

// errDiffer says that the comparison went well, and what it found did not.
var errDiffer = errors.New("the list and the gateway differ")

func main() {
	s := settings{out: os.Stdout, log: os.Stderr}
	variables := map[*string]string{} // no flag's default, which -h would print: some are secret
	setting := func(target *string, name, env, usage string) {
		flag.StringVar(target, name, "", usage+" (or $"+env+")")
		variables[target] = env
	}
	setting(&s.gateway, "base-url", "CARDGATEWAY_BASE_URL", "base URL of a real gateway; empty starts a sandbox, and nothing else may be set then")
	setting(&s.appID, "app-id", "CARDGATEWAY_APP_ID", "the app's id")
	setting(&s.merchantID, "merchant-id", "CARDGATEWAY_MERCHANT_ID", "merchant id for HTTP Basic; empty sends no credentials")
	setting(&s.secretKey, "secret-key", "CARDGATEWAY_SECRET_KEY", "secret key for HTTP Basic; prefer the variable, flags are seen by other users")
	setting(&s.zone, "zone", "CARDGATEWAY_ZONE", "zone of the gateway's wall clock, such as UTC or Asia/Shanghai; default UTC+8, as published")
	setting(&s.db, "db", "RECONCILE_DB", "SQLite file or postgres:// URL; default reconcile.db")
	setting(&s.from, "from", "RECONCILE_FROM", "first day to copy, as 2006-01-02 in UTC; needed once, for new books")
	setting(&s.list, "list", "RECONCILE_LIST", "CSV file of what should be paid: transaction_id, amount, currency; empty compares nothing")
	flag.Parse()
	for target, env := range variables {
		*target = cmp.Or(*target, os.Getenv(env))
	}
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "reconcile: %q belongs to no flag\n", flag.Arg(0))
		os.Exit(2)
	}

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
		if cmp.Or(s.appID, s.merchantID, s.secretKey, s.zone, s.db, s.from, s.list) != "" {
			return errors.New("-base-url is missing; the sandbox takes no other flag or variable")
		}
		return runDemo(ctx, s)
	}
	from, zone, err := s.day()
	if err != nil {
		return err
	}
	list, err := s.openList() // before the work, so that a wrong name costs none
	if err != nil {
		return err
	}
	defer func() { _ = list.Close() }() // it was only read
	config := cardgateway.Config{BaseURL: s.gateway, AppID: cardgateway.AppID(s.appID), Location: zone}
	if s.merchantID != "" {
		config.Authenticate = cardgateway.BasicAuth(s.merchantID, s.secretKey)
	}
	client, err := cardgateway.New(config)
	if err != nil {
		return err
	}
	books, err := OpenBooks(ctx, cmp.Or(s.db, "reconcile.db"), s.account(), zone)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, books.Close()) }()
	if err := s.copy(ctx, client, books, from); err != nil || s.list == "" {
		return err
	}
	return s.compare(ctx, books, list)
}

// account says of which gateway and app the books are.
func (s settings) account() string { return "-base-url " + s.gateway + " -app-id " + s.appID }

// day returns where the books are to begin, if that was said, and the gateway's zone.
func (s settings) day() (from time.Time, zone *time.Location, err error) {
	if s.from != "" {
		if from, err = time.Parse(time.DateOnly, s.from); err != nil {
			return time.Time{}, nil, fmt.Errorf("-from %s is not a day like 2006-01-02", shown(s.from))
		}
	}
	if s.zone == "" {
		return from, cardgateway.DefaultLocation(), nil
	}
	zone, err = time.LoadLocation(s.zone)
	if err != nil {
		return time.Time{}, nil, fmt.Errorf("-zone: %w", err)
	}
	return from, zone, nil
}

func (s settings) openList() (io.ReadCloser, error) {
	if s.list == "" {
		return io.NopCloser(strings.NewReader("")), nil
	}
	return os.Open(s.list)
}

// copy brings the books up to date and says what they hold.
func (s settings) copy(ctx context.Context, client *cardgateway.Client, books *Books, from time.Time) error {
	c := copier{client: client, books: books, from: from, log: s.log, progress: s.progress()}
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
	var writing error
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	err := books.Compare(ctx, func(d Difference) {
		if n++; n == 1 {
			fmt.Fprintln(table, "what\ttransaction\tgateway\tlist")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", d.What, shown(d.TransactionID), shown(d.Gateway), shown(d.List))
		if n%1000 == 0 { // a table holds its lines in memory
			writing = cmp.Or(writing, table.Flush())
		}
	})
	switch err := errors.Join(err, cmp.Or(writing, table.Flush())); {
	case err != nil:
		return err
	case n > 0:
		fmt.Fprintf(s.out, "differences: %d\n", n)
		return errDiffer
	}
	fmt.Fprintln(s.out, "the list and the gateway agree")
	return nil
}
