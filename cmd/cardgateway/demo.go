package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// demoOrders is the number of orders in the demonstration, spread over the year before now.
const demoOrders = 12_000

// demo is a gateway in this process, with a year of orders.
type demo struct {
	server   *sandbox.Server
	client   *cardgateway.Client
	from, to time.Time
	dir      string // of the database and the lists; it is not removed
}

// startDemo starts the gateway. Close it after use.
func startDemo(now time.Time) (*demo, error) {
	dir, err := os.MkdirTemp("", "cardgateway-demo-")
	if err != nil {
		return nil, exit.CannotWrite("files of the demonstration", err)
	}
	d := &demo{from: now.AddDate(-1, 0, 0), to: now, dir: dir}
	if d.server, err = sandbox.Start(sandbox.Options{NoNotifications: true}); err != nil {
		return nil, exit.Fail(exit.Failed, "the sandbox does not start: %v", err)
	}
	d.server.SeedOrders(sandbox.SeedOptions{
		N: demoOrders, From: d.from, To: now, Random: true, Hours: shopHours(), Currencies: []string{"EUR", "USD", "JPY"},
		TwiceEvery: demoOrders / 4, RefundTwiceEvery: demoOrders / 10 / 3,
	})
	d.server.SeedOrders(sandbox.SeedOptions{From: d.from.AddDate(0, 2, 0), To: now.AddDate(0, -2, 0), StrayRefunds: 3})
	if d.client, err = cardgateway.New(cardgateway.Config{BaseURL: d.server.URL, AppID: "123456", TestPayments: true}); err != nil {
		d.server.Close()
		return nil, err
	}
	return d, nil
}

// shopHours returns how much a shop in UTC+8 sells in each hour of the day, UTC: least from 18 to 22 h, most in its evening.
func shopHours() [24]float64 {
	return [24]float64{
		3, 4, 5, 6, 6, 5, 5, 5, 5, 5, 6, 8, 10, 10, 8, 5, 2, 1, .3, .2, .1, .2, 1, 2,
	}
}

func (d *demo) close() {
	d.client.CloseIdleConnections()
	d.server.Close()
}

// plantLists writes lists of what the copy contains, with errors of every class except refund_twice and later_charge. One of them is
// marked as known.
func plantLists(ctx context.Context, b *books.Books, dir string) error {
	info, err := b.Info(ctx)
	if err != nil {
		return booksError("db: ", err)
	}
	files := map[string]*strings.Builder{"paid.csv": {}, "refunds.csv": {}, "known.csv": {}}
	add := func(name string, cells ...string) { files[name].WriteString(strings.Join(cells, ",") + "\n") } // which need no quotation marks
	add("paid.csv", "transaction_id", "order", "amount", "currency", "at", "note")
	add("refunds.csv", "refund_id", "amount", "currency", "at")
	add("known.csv", "class", "id", "reason")
	p := planter{pay: func(cells ...string) { add("paid.csv", cells...) }, upTo: info.CompleteUpTo, inside: func(t time.Time) bool {
		return t.After(info.Since.AddDate(0, 0, 7)) && t.Before(info.CompleteUpTo.AddDate(0, 0, -7))
	}}
	var group []books.Row
	for e, err := range b.Entries(ctx, books.Payment, books.Month{}) { // there is no list yet
		if err != nil {
			return booksError("db: ", err)
		}
		if !e.Row.At.Before(info.CompleteUpTo) {
			continue
		}
		if len(group) > 0 && group[0].ID != e.Row.ID {
			p.plant(group)
			group = group[:0]
		}
		group = append(group, e.Row)
	}
	p.plant(group)
	middle := info.CompleteUpTo.AddDate(0, -1, 0)
	for i, amount := range []string{"49.90", "120.00", "8.75"} {
		id := fmt.Sprintf("cash-%d", i+1)
		add("paid.csv", id, fmt.Sprintf("A-9000%d", i), amount, "EUR", terminal.Wall(middle.AddDate(0, 0, -i)), "")
		if i == 2 {
			add("known.csv", "missing_there", id, "paid in cash at the counter")
		}
	}
	n := 0
	for of, err := range b.RefundsOf(ctx, info.Since, info.CompleteUpTo) {
		if err != nil {
			return booksError("db: ", err)
		}
		r := of.Refund
		if n++; r.State != books.StateApproved || n%300 == 150 && p.inside(r.At) { // missing here
			continue
		}
		amount := r.Amount.String()
		if n%400 == 200 {
			amount = r.Amount.Add(r.Amount).String()
		}
		add("refunds.csv", r.ID, amount, r.Currency, terminal.Wall(r.At))
	}
	for i := range 3 {
		add("refunds.csv", fmt.Sprintf("lost-refund-%d", i+1), fmt.Sprintf("1%d.50", i), "USD", terminal.Wall(middle.AddDate(0, 0, -i)))
	}
	for name, lines := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(lines.String()), 0o600); err != nil {
			return exit.CannotWrite("lists of the demonstration", err)
		}
	}
	return nil
}

// planter writes the lines of payments, some of them with an error.
type planter struct {
	pay      func(cells ...string)
	upTo     time.Time            // the copy is complete up to here
	inside   func(time.Time) bool // not near a limit of the copy
	unlisted bool                 // a payment near the end was left out
	waiting  int                  // payments in processing that are in the list
	n        int                  // approved payments, inside
	open     int                  // payments that were not approved, inside
	order    int
	twice    int    // an order that gets a second payment
	currency string // in this currency; empty for none
}

// plant writes the line of one transaction id, if it has one.
func (p *planter) plant(rows []books.Row) {
	slices.SortFunc(rows, func(a, b books.Row) int { return a.At.Compare(b.At) })
	at := slices.IndexFunc(rows, func(o books.Row) bool { return o.State == books.StateApproved })
	if at < 0 {
		// Payments that were not approved are not in the list, except a few: as if the response had been misread.
		if o := rows[0]; p.inside(o.At) {
			isWaiting := o.State == books.StateProcessing && o.At.After(p.upTo.AddDate(0, -3, 0)) && p.waiting < 3
			if isWaiting {
				p.waiting++
			}
			if p.open++; p.open%180 == 90 || isWaiting {
				p.add(o.ID, o.Amount.String(), o.Currency, o.At)
			}
		}
		return
	}
	o := rows[at]
	if !p.unlisted && o.At.After(p.upTo.Add(-44*time.Hour)) && o.At.Before(p.upTo.Add(-25*time.Hour)) {
		p.unlisted = true // not checked, because its line may be outside the list
		return
	}
	amount, currency := o.Amount.String(), o.Currency
	if len(rows) > 1 || !p.inside(o.At) {
		p.add(o.ID, amount, currency, o.At)
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
	case 1600: // listed twice
		p.add(o.ID, amount, currency, o.At)
		p.line(p.order, o.ID, amount, currency, o.At)
		return
	case 800:
		amount = "see invoice"
	case 1000, 1800:
		p.twice, p.currency = p.order+1, currency
	default:
		if p.currency == currency {
			p.line(p.twice, o.ID, amount, currency, o.At)
			p.currency = ""
			return
		}
	}
	p.add(o.ID, amount, currency, o.At)
}

func (p *planter) add(id, amount, currency string, at time.Time) {
	p.order++
	p.line(p.order, id, amount, currency, at)
}

func (p *planter) line(order int, id, amount, currency string, at time.Time) {
	p.pay(id, fmt.Sprintf("A-%05d", order), amount, currency, terminal.Wall(at), "")
}
