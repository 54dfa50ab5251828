package simulation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	reconcile "github.com/cardgateway/cardgateway-go/internal/reconcile/books"
)

// list is a list of the merchant: the lines of a file, and those that cannot be read.
type list struct {
	lines      []listed
	unreadable []listed // the line, and the id if there is one
}

// listed is a line of a list.
type listed struct {
	line                       int
	id, order, state, currency string
	cents                      int64
	at                         time.Time // zero: none
}

// mistakes are what can be wrong in a list. Each is made in one in so many lines.
var mistakes = []string{
	"missing", "doubled", "split", "other amount", "other state", "other currency", "other id", "other time", "same order", "no amount", "no id", "torn",
}

// importLists replaces both lists by what the merchant has stored. In one of N lines the step's Text is wrong.
func (x *reconciles) importLists(c *call, k *copied) {
	b := x.open(c, k)
	if b == nil {
		return
	}
	defer x.close(k, b)
	zone := time.UTC // of new books
	if info, err := b.Info(context.Background()); err == nil && info.Zone != nil {
		zone = k.location()
	}
	for _, kind := range []reconcile.Kind{reconcile.Payment, reconcile.Refund} {
		if kind == reconcile.Refund && k.shop.config.Reconcile.NoRefundList {
			continue
		}
		l, file := x.list(k, c.step, zone, kind)
		path := filepath.Join(x.dir, "list.csv")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			panic(err)
		}
		var info reconcile.ListInfo
		infos, err := b.Import(context.Background(), reconcile.ListSource{Kind: kind, Path: path})
		if err == nil {
			info = infos[0]
		}
		x.w.tell("%s: a list is read: %d lines, %d unreadable, %v", k.shop.name, info.Rows, info.Unreadable, err)
		if len(l.lines) == 0 && (kind == reconcile.Payment || len(l.unreadable) > 0) {
			if _, refused := errors.AsType[*reconcile.Refused](err); !refused {
				x.w.violate("a list without a line that can be read is refused", "%s: %v", k.shop.name, err)
			}
			continue
		}
		if err != nil || info.Rows != len(l.lines) || info.Unreadable != len(l.unreadable) {
			x.w.violate("a list is read", "%s: %+v, %v of\n%s", k.shop.name, info, err, file)
			return
		}
		k.lists[kind] = l
	}
}

// list makes the list of what the merchant has stored of payments or of refunds, and its file.
func (x *reconciles) list(k *copied, s *Step, zone *time.Location, kind reconcile.Kind) (*list, string) {
	l, file := new(list), "transaction_id,amount,currency,state,order,at\n"
	if kind == reconcile.Refund {
		file = "refund_id,amount,currency,at\n"
	}
	number := 1
	write := func(line listed, mistake string, how uint64) {
		number++
		line.line = number
		cells := []string{line.id, decimal.New(line.cents, -2).StringFixed(2), line.currency, line.state, line.order, clock(line.at, zone, how)}
		switch {
		case mistake == "no amount":
			cells[1] = "ten"
		case mistake == "no id":
			cells[0] = ""
		case line.state == "approved":
			cells[3] = []string{"approved", "paid", "", "100"}[how%4]
		}
		if kind == reconcile.Refund {
			cells = slices.Delete(cells, 3, 5)
		}
		if mistake == "torn" {
			cells = cells[:2]
		}
		file += strings.Join(cells, ",") + "\n"
		if slices.Contains([]string{"no amount", "no id", "torn"}, mistake) {
			l.unreadable = append(l.unreadable, listed{line: number, id: cells[0]})
			return
		}
		l.lines = append(l.lines, line)
	}
	for i, t := range x.w.things {
		line, ok := t.listed(mix(s.Seed, uint64(i)))
		if t.shop != k.shop || kindOf(t.isRefund()) != kind || !ok {
			continue
		}
		if s.Seed%2 == 0 { // a customer tries again, or pays in parts
			line.order = fmt.Sprint("order ", i/2)
		}
		how, mistake := mix(s.Seed+7, uint64(i)), ""
		if s.N > 0 && how%uint64(s.N) == 0 {
			if mistake = s.Text; mistake == "any" {
				mistake = mistakes[how/8%uint64(len(mistakes))]
			}
		}
		again := line
		switch mistake {
		case "missing":
			continue
		case "doubled":
			write(again, mistake, how)
		case "torn": // and repeated, or not
			if how/4%2 == 0 {
				write(again, "", how)
			}
		case "split":
			again.cents = line.cents / 3
			line.cents -= again.cents
			write(again, mistake, how)
		case "other amount":
			line.cents += 100
		case "other state":
			line.state = []string{"approved", "declined", "processing", "redirect"}[how/3%4]
		case "other currency":
			line.currency = "EUR"
		case "other id":
			line.id += "x"
		case "other time":
			line.at = x.w.begun.Add(time.Duration(how%60) * day / 2).Truncate(time.Second)
		case "same order":
			line.order = "shared"
		}
		if kind == reconcile.Refund {
			line.state, line.order = "approved", ""
		}
		write(line, mistake, how)
	}
	return l, file
}

// listed returns what the merchant has stored of a thing, if it has anything. The time is that of its first row, or one near it.
func (t *thing) listed(how uint64) (line listed, ok bool) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	line = listed{id: t.id, order: "o-" + t.id, currency: "USD", cents: cents(t.amount()), state: "processing"}
	switch {
	case t.stored[paid], t.stored[conflict]:
		line.state = "approved"
	case t.isRefund():
		return line, false
	case t.stored[declined]:
		line.state = "declined"
	case !t.stored[pending]:
		return line, false
	}
	rows := t.rows()
	if t.isRefund() && len(rows) > 0 && isOneOf(t.shop.config.Reconcile.SameID, rows[0].UniqueID) {
		line.id = sharedID
	}
	if len(rows) > 0 && how%4 > 0 {
		near := []time.Duration{0, 0, time.Second, -time.Hour, 30 * time.Hour, -30 * time.Hour}[how/4%6]
		line.at = rows[0].At.Add(near).Truncate(time.Second)
	}
	return line, true
}

// clock writes a time in one of the ways that a list can have.
func clock(at time.Time, zone *time.Location, how uint64) string {
	switch {
	case at.IsZero():
		return ""
	case how%3 == 0:
		return at.UTC().Format(time.RFC3339)
	}
	return at.In(zone).Format(time.DateTime)
}

func cents(d decimal.Decimal) int64 { return d.Shift(2).IntPart() }
