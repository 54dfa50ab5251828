package faults

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// CostRow is the duration of a payment without faults with one store, as medians.
type CostRow struct {
	Store   string
	Bare    time.Duration // a payment by the client alone
	Written time.Duration // one durable write of an intent's row, and then a payment by the client alone
	Journal time.Duration // a payment through the journal
}

// Share is the additional time of the journal, divided by that of the payment and one durable write.
func (r *CostRow) Share() float64 { return float64(r.Journal)/float64(r.Written) - 1 }

// Cost measures payments without faults over loopback, n of each kind, alternating, so that other load affects all kinds
// alike. Each write is one prepared INSERT of an intent's row, in its own transaction.
func Cost(name, spec string, n int) (row *CostRow, err error) {
	server, err := sandbox.Start(sandbox.Options{NoNotifications: true})
	if err != nil {
		return nil, err
	}
	defer server.Close()
	client, err := cardgateway.New(cardgateway.Config{BaseURL: server.URL, AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: new(http.Transport)}})
	if err != nil {
		return nil, err
	}
	store, done, err := OpenStore(spec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	j := journal.New(client, store, journal.Options{})
	write, closeDB, err := writer(spec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeDB()) }()
	var took [3][]time.Duration
	for i := range n {
		for kind, call := range []func(o *Order) error{
			func(o *Order) error { _, err := client.CreateSubscription(background, o.subscription()); return err },
			func(o *Order) error {
				if err := write(o); err != nil {
					return err
				}
				_, err := client.CreateSubscription(background, o.subscription())
				return err
			},
			func(o *Order) error { _, err := j.CreateSubscription(background, o.subscription()); return err },
		} {
			o := Order{ID: fmt.Sprintf("cost-%d-%06d", kind, i), Card: sandbox.Approved, Amount: "12.50"}
			begun := time.Now()
			if err := call(&o); err != nil {
				return nil, err
			}
			took[kind] = append(took[kind], time.Since(begun))
		}
	}
	return &CostRow{name, percentile(took[0], 50), percentile(took[1], 50), percentile(took[2], 50)}, nil
}

// writer returns a function that writes the row of an intent into the journal's table, for a separate shop.
func writer(spec string) (write func(*Order) error, closeDB func() error, err error) {
	d, err := databaseOf(spec)
	if err != nil {
		return nil, nil, err
	}
	parameters := "?, ?, ?, ?, ''"
	if d.dialect == sqlstore.Postgres {
		parameters = "$1, $2, $3, $4, ''"
	}
	db, err := sql.Open(d.driver, d.source)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	insert, err := db.Prepare("INSERT INTO cardgateway_journal (shop, transaction_id, begun, intent, evidence) VALUES (" + parameters + ")")
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return func(o *Order) error {
		r, at := o.subscription(), time.Now()
		intent, err := json.Marshal(journal.Intent{
			ID: journal.PaymentID(o.ID), OrderID: r.OrderID, Operation: "CreateSubscription", Amount: r.Amount, Currency: r.Currency,
			At: at, Sender: "01234567890123456789012345",
		})
		if err != nil {
			return err
		}
		_, err = insert.Exec("https://gateway.example 7", o.ID, at.UnixMicro(), string(intent))
		return err
	}, db.Close, nil
}

// percentile sorts all, and returns the one that so many per cent are below.
func percentile(all []time.Duration, percent int) time.Duration {
	slices.Sort(all)
	return all[len(all)*percent/100]
}

// PrintCost writes rows as a table.
func PrintCost(w io.Writer, rows []*CostRow) {
	var cells [][]any
	for _, r := range rows {
		cells = append(cells, []any{r.Store, micros(r.Bare), micros(r.Written), micros(r.Journal), fmt.Sprintf("%+.1f %%", 100*r.Share())})
	}
	printTable(w, "Store|A payment with the plain client|and one durable write|with the journal|The journal beyond both", cells)
}
