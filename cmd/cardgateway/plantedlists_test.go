//go:build linux || darwin

package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/shopspring/decimal"
)

// plantedLists are lists with so many mistakes of every class, and what must be found.
type plantedLists struct {
	each, gap int // gap is how many payments lie between two mistakes
	from, to  time.Time
	want      map[match.Class][]string

	rows, lines    int
	payments       *bufio.Writer
	refunds        *bufio.Writer
	turn, since    int
	first          string // the order of the first half of paid_twice
	declined, open int
	again          map[string]bool // refunds that were made twice
}

// plant reports whether there is room for another mistake of a class, and notes it.
func (l *plantedLists) plant(class match.Class, id string) bool {
	if len(l.want[class]) >= l.each {
		return false
	}
	l.want[class] = append(l.want[class], id)
	return true
}

func (l *plantedLists) isInside(at time.Time) bool {
	return at.After(l.from.Add(72*time.Hour)) && at.Before(l.to.Add(-72*time.Hour))
}

func (l *plantedLists) pay(id, order, amount, currency string, at time.Time) {
	l.lines++
	fmt.Fprintf(l.payments, "%s;%s;%s;%s;%s\n", id, order, amount, currency, at.UTC().Format(time.RFC3339))
}

func (l *plantedLists) giveBack(id, amount, currency string, at time.Time) {
	l.lines++
	fmt.Fprintf(l.refunds, "%s,%s,%s,%s\n", id, amount, currency, at.UTC().Format(time.RFC3339))
}

func (l *plantedLists) write(t *testing.T, read *sql.DB, dir string) {
	t.Helper()
	create := func(name, titles string) (*bufio.Writer, func()) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(f)
		fmt.Fprintln(w, titles)
		return w, func() {
			if err := errors.Join(w.Flush(), f.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	var closePayments, closeRefunds func()
	l.payments, closePayments = create("paid.csv", "Transaction ID;Order;Amount;Currency;Time")
	l.refunds, closeRefunds = create("refunds.csv", "refund_id,amount,currency,time")
	var last plantedOrder
	successes := 0
	var o plantedOrder
	each(t, read, `SELECT transaction_id, state, amount, currency, test, at FROM cardgateway_orders ORDER BY transaction_id, at`,
		func(scan func(...any) error) error {
			var at int64
			if err := scan(&o.id, &o.state, &o.amount, &o.currency, &o.test, &at); err != nil {
				return err
			}
			l.rows++
			o.at = time.UnixMicro(at)
			if o.id != last.id && last.id != "" {
				l.order(last, successes)
				successes = 0
			}
			if o.state == "approved" {
				successes++
			}
			last = o
			return nil
		})
	l.order(last, successes)
	for i := range l.each {
		id := fmt.Sprint("nowhere-", i)
		l.want[match.ClassMissingThere] = append(l.want[match.ClassMissingThere], id)
		l.pay(id, "", "7.25", "EUR", l.from.AddDate(0, 3, i%100))
	}
	l.writeRefunds(t, read)
	closePayments()
	closeRefunds()
}

type plantedOrder struct {
	id, state, amount, currency string
	test                        bool
	at                          time.Time
}

// order writes the line of one payment.
func (l *plantedLists) order(o plantedOrder, successes int) {
	inside := l.isInside(o.at)
	switch {
	case o.test:
		if len(l.want[match.ClassTest])%2 == 0 { // every second one is listed
			l.pay(o.id, "o-"+o.id, o.amount, o.currency, o.at)
		}
		l.want[match.ClassTest] = append(l.want[match.ClassTest], o.id)
		return
	case successes > 1 && slices.Contains(l.want[match.ClassLaterCharge], o.id):
		l.pay(o.id, "", o.amount, o.currency, o.at)
		return
	case successes > 1:
		l.want[match.ClassTwoSuccesses] = append(l.want[match.ClassTwoSuccesses], o.id)
		l.pay(o.id, "", o.amount, o.currency, o.at)
		return
	case o.state == "declined":
		if l.declined++; inside && l.declined%3 == 0 && l.plant(match.ClassState, o.id) {
			l.pay(o.id, "", o.amount, o.currency, o.at)
		}
		return
	case o.state != "approved":
		isYoung := o.at.After(l.to.Add(-170 * 24 * time.Hour)) // older ones have the class state
		if l.open++; inside && isYoung && l.open%3 == 0 && l.plant(match.ClassTiming, o.id) {
			l.pay(o.id, "", o.amount, o.currency, o.at)
		}
		return
	}
	isNear := o.at.Before(l.from.Add(40*time.Hour)) || o.at.After(l.to.Add(-40*time.Hour))
	if isNear && l.plant(match.ClassUnchecked, o.id) {
		return
	}
	if l.since++; !inside || l.since < l.gap {
		l.pay(o.id, "o-"+o.id, o.amount, o.currency, o.at)
		return
	}
	l.since = 0
	if l.first != "" {
		l.pay(o.id, l.first, o.amount, o.currency, o.at)
		l.first = ""
		return
	}
	classes := []match.Class{match.ClassMissingHere, match.ClassAmount, match.ClassCurrency, match.ClassPaidTwice, match.ClassUnreadable, match.ClassListedTwice}
	class := classes[l.turn%len(classes)]
	id := o.id
	switch class {
	case match.ClassPaidTwice:
		id = "twice-" + o.id
	case match.ClassUnreadable:
		id = fmt.Sprint("line ", l.lines+2)
	}
	if l.turn++; !l.plant(class, id) {
		l.pay(o.id, "o-"+o.id, o.amount, o.currency, o.at)
		return
	}
	switch class {
	case match.ClassMissingHere:
	case match.ClassAmount:
		more := decimal.RequireFromString(o.amount).Add(decimal.New(1, -2))
		l.pay(o.id, "", more.String(), o.currency, o.at)
	case match.ClassCurrency:
		l.pay(o.id, "", o.amount, map[string]string{"EUR": "USD", "USD": "JPY", "JPY": "EUR"}[o.currency], o.at)
	case match.ClassListedTwice:
		l.pay(o.id, "o-"+o.id, o.amount, o.currency, o.at)
		l.pay(o.id, "o-"+o.id, o.amount, o.currency, o.at)
	case match.ClassPaidTwice:
		l.first = id
		l.pay(o.id, id, o.amount, o.currency, o.at)
	case match.ClassUnreadable:
		l.pay(o.id, "", "1,5", o.currency, o.at)
	}
}

// markTests makes a few payments of the copy tests, and the others real. All of a sandbox are tests.
func (l *plantedLists) markTests(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, statement := range []string{
		`UPDATE cardgateway_orders SET test = 0`,
		`UPDATE cardgateway_orders SET test = 1 WHERE id IN (SELECT o.id FROM cardgateway_orders o WHERE o.state = 'approved' AND o.at > $1 AND o.at < $2
			AND NOT EXISTS (SELECT 1 FROM cardgateway_refunds r WHERE r.unique_id = o.id)
			AND NOT EXISTS (SELECT 1 FROM cardgateway_orders p WHERE p.transaction_id = o.transaction_id AND p.id <> o.id) ORDER BY o.id LIMIT $3)`,
	} {
		args := []any{l.from.AddDate(0, 1, 0).UnixMicro(), l.to.AddDate(0, -1, 0).UnixMicro(), l.each}
		if _, err := db.ExecContext(t.Context(), statement, args[:strings.Count(statement, "$")]...); err != nil {
			t.Fatal(err)
		}
	}
}

// chargeLater makes payments of the copy subscriptions: they are charged again a week later.
func (l *plantedLists) chargeLater(t *testing.T, db *sql.DB) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), `INSERT INTO cardgateway_orders (id, unique_id, transaction_id, state, code, amount, currency, at, card, walk)
		SELECT o.id || '-later', o.unique_id || '-later', o.transaction_id, o.state, o.code, o.amount, o.currency, o.at + $1, o.card, o.walk
		FROM cardgateway_orders o WHERE o.state = 'approved' AND o.test = 0 AND o.at > $2 AND o.at < $3
			AND NOT EXISTS (SELECT 1 FROM cardgateway_orders p WHERE p.transaction_id = o.transaction_id AND p.id <> o.id) ORDER BY o.id DESC LIMIT $4`,
		(7 * 24 * time.Hour).Microseconds(), l.from.AddDate(0, 1, 0).UnixMicro(), l.to.AddDate(0, -1, 0).UnixMicro(), l.each)
	if err != nil {
		t.Fatal(err)
	}
	each(t, db, `SELECT transaction_id FROM cardgateway_orders WHERE id LIKE '%-later'`, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		l.want[match.ClassLaterCharge] = append(l.want[match.ClassLaterCharge], id)
		return err
	})
}

// refundTwice makes refunds of the copy twice, in different periods. Both together are less than was paid.
func (l *plantedLists) refundTwice(t *testing.T, db *sql.DB) {
	t.Helper()
	l.again = map[string]bool{}
	const later = 40 * 24 * time.Hour
	var ids []string
	each(t, db, `SELECT r.id, r.merchant_refund_id, r.at, COUNT(*) OVER (PARTITION BY r.unique_id)
		FROM cardgateway_refunds r JOIN cardgateway_orders o ON o.id = r.unique_id ORDER BY r.id`, func(scan func(...any) error) error {
		var id, merchantID string
		var micros int64
		var n int
		if err := scan(&id, &merchantID, &micros, &n); err != nil {
			return err
		}
		if n == 1 && len(ids) < l.each && l.isInside(time.UnixMicro(micros)) && l.isInside(time.UnixMicro(micros).Add(later)) {
			ids = append(ids, id)
			l.again[merchantID] = true
		}
		return nil
	})
	for _, id := range ids {
		for _, statement := range []string{
			`UPDATE cardgateway_refunds SET amount = '0.25' WHERE id = $1`,
			`INSERT INTO cardgateway_refunds (id, refund_unique_id, merchant_refund_id, unique_id, state, code, amount, currency, at, walk)
				SELECT id || '-2', refund_unique_id || '-2', merchant_refund_id, unique_id, state, code, amount, currency, at + ` +
				fmt.Sprint(later.Microseconds()) + `, walk FROM cardgateway_refunds WHERE id = $1`,
		} {
			if _, err := db.ExecContext(t.Context(), statement, id); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (l *plantedLists) writeRefunds(t *testing.T, read *sql.DB) {
	t.Helper()
	above, since := map[string]bool{}, 0
	each(t, read, `SELECT r.merchant_refund_id, r.amount, r.currency, r.at, COALESCE(o.transaction_id, ''), COUNT(*) OVER (PARTITION BY r.unique_id)
		FROM cardgateway_refunds r LEFT JOIN cardgateway_orders o ON o.id = r.unique_id`, func(scan func(...any) error) error {
		var id, amount, currency, payment string
		var micros int64
		var n int
		if err := scan(&id, &amount, &currency, &micros, &payment, &n); err != nil {
			return err
		}
		l.rows++
		at := time.UnixMicro(micros)
		switch {
		case l.again[id]:
			if slices.Contains(l.want[match.ClassRefundTwice], id) {
				return nil // it is listed once
			}
			l.want[match.ClassRefundTwice] = append(l.want[match.ClassRefundTwice], id)
		case payment == "":
			l.want[match.ClassRefundWithoutOrder] = append(l.want[match.ClassRefundWithoutOrder], id)
		case n > 1:
			above[payment] = true
		default:
			if since++; since%5 == 0 && l.isInside(at) && l.plant(match.ClassRefundMissingHere, id) {
				return nil
			}
		}
		l.giveBack(id, amount, currency, at)
		return nil
	})
	l.want[match.ClassRefundAbovePayment] = slices.Collect(maps.Keys(above))
	for i := range l.each {
		id := fmt.Sprint("never-", i)
		l.want[match.ClassRefundMissingThere] = append(l.want[match.ClassRefundMissingThere], id)
		l.giveBack(id, "-7.25", "EUR", l.from.AddDate(0, 3, i%100))
	}
}

// check holds what the program printed against what was planted.
func (l *plantedLists) check(t *testing.T, out string) {
	t.Helper()
	got := map[match.Class]map[string]bool{}
	for line := range strings.Lines(out) {
		var d struct {
			Class match.Class `json:"class"`
			ID    string      `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err, line)
		}
		if got[d.Class] == nil {
			got[d.Class] = map[string]bool{}
		}
		if got[d.Class][d.ID] {
			t.Errorf("%s %s is there twice", d.Class, d.ID)
		}
		got[d.Class][d.ID] = true
	}
	for _, about := range match.Classes {
		if about.Class == match.ClassRowUnreadable || about.Class == match.ClassDate || about.Class == match.ClassChanged { // in the tests of package match
			continue
		}
		want, found := l.want[about.Class], 0
		if len(want) != l.each {
			t.Errorf("%s: %d are planted, want %d", about.Class, len(want), l.each)
		}
		for _, id := range want {
			if got[about.Class][id] {
				found++
			} else {
				t.Errorf("%s: %s is not found", about.Class, id)
			}
		}
		if wrong := len(got[about.Class]) - found; wrong > 0 {
			t.Errorf("%s: %d are false", about.Class, wrong)
		}
		t.Logf("%s: %d of %d, %d false", about.Class, found, len(want), len(got[about.Class])-found)
	}
}
