package faults

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
)

// ManyRow is the cost of very many open payments.
type ManyRow struct {
	Kind    string // of the store
	Entries int
	First   time.Duration // a Recover that queries each, with a gateway that responds at once
	Heap    uint64        // maximum heap during that, minus the heap before
}

// Many fills a store with open payments, and recovers them as a program does after its start.
func Many(spec string, entries int) (row *ManyRow, err error) {
	store, done, err := OpenStore(spec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	row = &ManyRow{Kind: storeKind(spec), Entries: entries}
	if err := fillMany(store, entries); err != nil {
		return nil, err
	}
	j, err := manyJournal(store)
	if err != nil {
		return nil, err
	}
	before := heap()
	begun, told := time.Now(), 0
	for e, err := range j.Recover(background) {
		if err != nil {
			return nil, err
		}
		if e.State() != journal.Pending {
			return nil, fmt.Errorf("faults: %s is %v", e.ID().Text, e.State())
		}
		if told++; told%(entries/10+1) == 0 {
			row.Heap = max(row.Heap, heap()-before)
		}
	}
	if row.First = time.Since(begun); told != entries {
		return nil, fmt.Errorf("faults: %d of %d payments were told", told, entries)
	}
	return row, nil
}

// fillMany fills a store with open payments.
func fillMany(store journal.Store, entries int) error {
	at := time.Now().Add(-time.Hour)
	var failed atomic.Pointer[error]
	each(entries, 256, func(i int) {
		_, _, err := store.Begin(background, journal.Intent{
			Shop: manyShop, ID: journal.PaymentID(manyID(i)), OrderID: "order-" + manyID(i), Operation: "CreateSubscription",
			Amount: decimal.New(1250, -2), Currency: "USD", At: at.Add(time.Duration(i) * time.Millisecond), Sender: "01234567890123456789012345",
		})
		if err != nil {
			failed.Store(&err)
		}
	})
	if p := failed.Load(); p != nil {
		return *p
	}
	return nil
}

var manyShop = journal.Shop{Gateway: "https://gateway.test", AppID: "7"}

func manyID(i int) string { return fmt.Sprintf("many-%08d", i) }

func manyJournal(store journal.Store) (*journal.Journal, error) {
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: manyShop.Gateway, AppID: manyShop.AppID, TestPayments: true, HTTPClient: &http.Client{Transport: inProcessing{}},
	})
	if err != nil {
		return nil, err
	}
	return journal.New(client, store, journal.Options{}), nil
}

// inProcessing is a gateway that finds every payment, waiting for its cardholder.
type inProcessing struct{}

// RoundTrip responds to a search.
func (inProcessing) RoundTrip(r *http.Request) (*http.Response, error) {
	return clienttest.Respond(r, 200, fmt.Sprintf(`{"code":121,"currPage":1,"pageSize":10,"totalCount":1,"totalPage":1,"data":[{"code":301,"uniqueId":"1",`+
		`"transactionId":%q,"transactionAmount":"12.50","transactionCurrency":"USD","redirectUrl":"https://gateway.test/page"}]}`,
		r.URL.Query().Get("transactionId")))
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// manyTable returns rows as a table.
func manyTable(rows []*ManyRow) string {
	return table("Store|Open entries|`Recover`|Memory during that", rows, func(r *ManyRow) []any {
		return []any{r.Kind, r.Entries, seconds(r.First), fmt.Sprintf("%.1f MB", float64(r.Heap)/1e6)}
	})
}
