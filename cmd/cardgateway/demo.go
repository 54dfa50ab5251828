package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// The sandbox's orders in the demonstration: so many, in the year before now.
const demoOrders = 12_000

// demonstrate reconciles with a gateway in this process. Its lists are made of what was copied, with mistakes put in.
func (r *runCommand) demonstrate(c *call) (err error) {
	c.tell("no setting is set: this is a demonstration with a sandbox on this machine. No account, no real money")
	dir, err := os.MkdirTemp("", "cardgateway-demo-")
	if err != nil {
		return exit.CannotWrite("files of the demonstration", err)
	}
	now := c.now()
	from := now.AddDate(-1, 0, 0)
	server, err := sandbox.Start(sandbox.Options{NoNotifications: true})
	if err != nil {
		return exit.Fail(exit.NoAnswer, "the sandbox does not start: %v", err)
	}
	defer server.Close()
	server.SeedOrders(sandbox.SeedOptions{
		N: demoOrders, From: from, To: now, Random: true, Hours: sandbox.DayAndNight(), Currencies: []string{"EUR", "USD", "JPY"},
		TwiceEvery: demoOrders / 4, RefundTwiceEvery: demoOrders / 10 / 3,
	})
	server.AddRefunds(sandbox.Arrivals{N: 3, From: from.AddDate(0, 2, 0), To: now.AddDate(0, -2, 0)})
	client, err := cardgateway.New(cardgateway.Config{BaseURL: server.URL, AppID: "123456"})
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	b, err := books.Open(c.ctx, filepath.Join(dir, "books.db"))
	if err != nil {
		return booksError("", err)
	}
	defer func() { err = cmp.Or(err, b.Close()) }()
	sync := &syncCommand{LogEvery: r.LogEvery}
	if err := sync.sync(c.toStderr(), b, books.SyncOptions{Client: client, From: from.Truncate(time.Second), Now: c.now}); err != nil {
		return err
	}
	if err := plantLists(c, b, dir); err != nil {
		return err
	}
	r.List, r.RefundList, r.Known = filepath.Join(dir, "paid.csv"), filepath.Join(dir, "refunds.csv"), filepath.Join(dir, "known.csv")
	if !r.Period.IsSet() { // whole days
		zone := client.Location()
		midnight := func(t time.Time) string { return t.In(zone).Format(time.DateOnly) }
		r.From, r.To = midnight(from.AddDate(0, 0, 1)), midnight(now)
	}
	r.Out = cmp.Or(r.Out, filepath.Join(dir, "report.html"))
	m, err := c.compared(&r.compareFlags, b)
	if err != nil {
		return err
	}
	m.isDemonstration = true
	if err := m.report(&r.reportFlags); err != nil {
		if failed, ok := errors.AsType[*exit.Failure](err); !ok || failed.Code != exit.No {
			return err
		}
	}
	c.tell("demonstration: the report is of a sandbox; the database and the lists are in %s", dir)
	return nil
}

// plantLists writes lists of what the copy has, with mistakes of every class that a list can have, and marks one as known.
func plantLists(c *call, b *books.Books, dir string) error {
	info, err := b.Info(c.ctx)
	if err != nil {
		return booksError("db: ", err)
	}
	payments, refunds, known := &csvLines{}, &csvLines{}, &csvLines{}
	payments.add("transaction_id", "order", "amount", "currency", "at", "note")
	refunds.add("refund_id", "amount", "currency", "at")
	known.add("class", "id", "reason")
	p := planter{payments: payments, inside: func(t time.Time) bool {
		return t.After(info.Since.AddDate(0, 0, 7)) && t.Before(info.CompleteUpTo.AddDate(0, 0, -7))
	}}
	var group []books.Order
	for o, err := range b.Orders(c.ctx, info.Since, info.CompleteUpTo) {
		if err != nil {
			return booksError("db: ", err)
		}
		if len(group) > 0 && group[0].TransactionID != o.TransactionID {
			p.plant(group)
			group = group[:0]
		}
		group = append(group, o)
	}
	p.plant(group)
	middle := info.CompleteUpTo.AddDate(0, -1, 0)
	for i, amount := range []string{"49.90", "120.00", "8.75"} {
		id := fmt.Sprintf("cash-%d", i+1)
		payments.add(id, fmt.Sprintf("A-9000%d", i), amount, "EUR", terminal.Wall(middle.AddDate(0, 0, -i)), "")
		if i == 2 {
			known.add("missing_there", id, "paid in cash at the counter")
		}
	}
	n := 0
	for r, err := range b.Refunds(c.ctx, info.Since, info.CompleteUpTo) {
		if err != nil {
			return booksError("db: ", err)
		}
		if n++; r.State != "approved" || n%300 == 150 && p.inside(r.At) { // missing here
			continue
		}
		amount := r.Amount.String()
		if n%400 == 200 {
			amount = r.Amount.Add(r.Amount).String()
		}
		refunds.add(r.MerchantRefundID, amount, r.Currency, terminal.Wall(r.At))
	}
	for i := range 3 {
		refunds.add(fmt.Sprintf("lost-refund-%d", i+1), fmt.Sprintf("1%d.50", i), "USD", terminal.Wall(middle.AddDate(0, 0, -i)))
	}
	for name, lines := range map[string]*csvLines{"paid.csv": payments, "refunds.csv": refunds, "known.csv": known} {
		if err := os.WriteFile(filepath.Join(dir, name), lines.text, 0o600); err != nil {
			return exit.CannotWrite("lists of the demonstration", err)
		}
	}
	return nil
}

// csvLines are lines of CSV whose cells need no quotation marks.
type csvLines struct{ text []byte }

func (l *csvLines) add(cells ...string) {
	for i, cell := range cells {
		if i > 0 {
			l.text = append(l.text, ',')
		}
		l.text = append(l.text, cell...)
	}
	l.text = append(l.text, '\n')
}

// planter writes the line of a payment, now and then with a mistake.
type planter struct {
	payments *csvLines
	inside   func(time.Time) bool // not near an edge
	n        int                  // payments that were approved, inside
	open     int                  // those that were not
	order    int
	twice    int    // an order that is to be paid a second time
	currency string // in this currency; empty for none
}

// plant writes what there is of one transaction id.
func (p *planter) plant(rows []books.Order) {
	at := slices.IndexFunc(rows, func(o books.Order) bool { return o.State == "approved" })
	if at < 0 {
		// What is not paid is not in the list. A few are: as if the answer had been misread, or were still to come.
		if o := rows[0]; p.inside(o.At) {
			if p.open++; p.open%180 == 90 {
				p.add(o.TransactionID, o.Amount.String(), o.Currency, o.At)
			}
		}
		return
	}
	o := rows[at]
	amount, currency := o.Amount.String(), o.Currency
	if len(rows) > 1 || !p.inside(o.At) {
		p.add(o.TransactionID, amount, currency, o.At)
		return
	}
	p.n++
	switch p.n % 2000 {
	case 200, 1200: // missing here
		return
	case 400, 1400:
		amount = o.Amount.Add(decimal.NewFromInt(90)).String()
	case 600:
		currency = cmp.Or(map[string]string{"EUR": "USD", "USD": "EUR"}[currency], currency)
	case 800:
		amount = "see invoice"
	case 1000, 1800:
		p.twice, p.currency = p.order+1, currency
	default:
		if p.currency == currency {
			p.line(p.twice, o.TransactionID, amount, currency, o.At)
			p.currency = ""
			return
		}
	}
	p.add(o.TransactionID, amount, currency, o.At)
}

func (p *planter) add(id, amount, currency string, at time.Time) {
	p.order++
	p.line(p.order, id, amount, currency, at)
}

func (p *planter) line(order int, id, amount, currency string, at time.Time) {
	p.payments.add(id, fmt.Sprintf("A-%05d", order), amount, currency, terminal.Wall(at), "")
}
