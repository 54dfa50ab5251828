package books

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestSaveOdd saves what a gateway should not send but may: both databases keep the same.
func TestSaveOdd(t *testing.T) {
	at, err := cardgateway.ParseWallTime("2026-01-15 10:07:09")
	if err != nil {
		t.Fatal(err)
	}
	orders := [][]cardgateway.Transaction{
		{{UniqueID: "1", TransactionID: "zero \x00 byte", Code: 100},
			{UniqueID: "2", TransactionID: "no \xff UTF-8", Code: 777, TransactionAmount: decimal.RequireFromString("1.230")}},
		{{TransactionID: "t", Code: 301, TransactionAt: at}, {TransactionID: "u", Code: 301, TransactionAt: at}}, // before the gateway has given ids
		{{UniqueID: "7", TransactionID: "t", Code: 100, TransactionAt: at}},
		{{UniqueID: "8", TransactionID: "v", Code: 102, TransactionAmount: decimal.NewFromInt(10), TransactionCurrency: "USD"},
			{UniqueID: "8", TransactionID: "v", Code: 102, TransactionAmount: decimal.NewFromInt(11), TransactionCurrency: "USD"}}, // twice in a batch
		{{UniqueID: "8", TransactionID: "v", Code: 100}}, // without the amount
		{{UniqueID: "11", TransactionID: "x", Code: 102, TransactionAmount: decimal.NewFromInt(10), TransactionCurrency: "USD"},
			{UniqueID: "12", TransactionID: "y", Code: 102, TransactionAmount: decimal.NewFromInt(10), TransactionCurrency: "USD"}},
		{{UniqueID: "11", TransactionID: "x", Code: 100, TransactionCurrency: "USD"},
			{UniqueID: "12", TransactionID: "y", Code: 100, TransactionAmount: decimal.NewFromInt(12)}}, // without the amount or the currency
		{{UniqueID: "14", TransactionID: "w", Code: 102, TransactionAmount: decimal.NewFromInt(10), TransactionCurrency: "USD"},
			{UniqueID: "14", TransactionID: "w", Code: 100}}, // twice in a batch, the second time without the amount
		{{UniqueID: "15", TransactionID: "a", Code: 100, TransactionAmount: decimal.NewFromInt(10), TransactionCurrency: "USD"}},
		{{UniqueID: "15", TransactionID: "a", Code: 100, TransactionAmount: decimal.RequireFromString("0.00"), TransactionCurrency: "USD"}}, // zero is an amount
		{{UniqueID: "13", TransactionID: "z", Code: 102, TransactionAt: at}},
		{{TransactionID: "z", Code: 100, TransactionAt: at}}, // without the id that it had
		{{UniqueID: "9", TransactionID: strings.Repeat("é", 20_000) + "a", Code: 100}, {UniqueID: "10", TransactionID: strings.Repeat("é", 20_000) + "b", Code: 100}},
	}
	var first []string
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		for _, batch := range orders {
			var rows []record
			for i := range batch {
				rows = append(rows, orderRecord(&batch[i], "7", time.UTC, 1))
			}
			save(t, b, &ordersTable, 0, time.Now(), rows...)
		}
		for _, refund := range []cardgateway.Refund{
			{MerchantRefundID: "r", UniqueID: "8", Code: 111}, {RefundUniqueID: "9", MerchantRefundID: "r", UniqueID: "8", Code: 111},
			{RefundUniqueID: "10", MerchantRefundID: "s", UniqueID: "8", Code: 111, RefundAt: at}, // without the time of the request
			{UniqueID: "7", Code: 111}, {RefundUniqueID: "11", UniqueID: "7", Code: 111}, // without an id of the merchant
		} {
			save(t, b, &refundsTable, 0, time.Now(), refundRecord(&refund, time.UTC, 1))
		}
		change(t, b, func(tx *sql.Tx) error {
			return errors.Join(b.dropUnnamed(t.Context(), tx, &ordersTable, time.Now()), b.dropUnnamed(t.Context(), tx, &refundsTable, time.Now()))
		})
		got := dump(t, b)
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("the databases differ (-first +this):\n%s", diff)
		}
		var texts []string
		for _, row := range got {
			if len(row) < 200 {
				texts = append(texts, row)
			}
		}
		want := []string{
			"orders 1 1 zero \uFFFD byte approved 100 0  0   0", "orders 11 11 x approved 100 10 USD 0   0", "orders 12 12 y approved 100 12 USD 0   0",
			"orders 13 13 z approved 100 0  1768471629000000   0", "orders 14 14 w approved 100 10 USD 0   0", "orders 15 15 a approved 100 0 USD 0   0", "orders 2 2 no \uFFFD UTF-8 unknown 777 1.23  0   0",
			"orders 7 7 t approved 100 0  1768471629000000   0", "orders 8 8 v approved 100 11 USD 0   0",
			"orders transaction u 2026-01-15 10:07:09  u redirect 301 0  1768471629000000   0",
			"refunds 10 10 s 8 approved 111 0 USD 1768471629000000", "refunds 11 11 11 7 approved 111 0  0", "refunds 9 9 r 8 approved 111 0 USD 0",
		}
		if diff := cmp.Diff(want, texts); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if len(got) != len(want)+2 {
			t.Errorf("got %d rows, want %d and two with long ids", len(got), len(want))
		}
	})
}

// TestStreams: rows come sorted by the bytes of their texts, on both databases.
func TestStreams(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		exec(t, b, `INSERT INTO cardgateway_copy (one, gateway, app, zone, since, synced) VALUES (1, 'g', '7', 'UTC', 0, 0)`)
		var rows, refunds []record
		for i, id := range []string{"b", "B", "a-1", "a 1", "a1", "é", "z", "Z", "a1"} {
			at := int64(1000 - i)
			rows = append(rows, record{fmt.Sprint(i), fmt.Sprint(i), id, "approved", int64(100), "1", "EUR", at, "", "", int64(0), int64(1)})
			refunds = append(refunds, record{fmt.Sprint(i), fmt.Sprint(i), "r" + id, id, "approved", int64(111), "1", "EUR", at, int64(1)})
		}
		save(t, b, &ordersTable, 0, time.Now(), rows...)
		save(t, b, &refundsTable, 0, time.Now(), refunds...)
		var got, gotRefunds []string
		payments, _ := read(t, b, Payment)
		for _, o := range payments {
			got = append(got, o.ID+" "+o.UniqueID)
		}
		if diff := cmp.Diff([]string{"B 1", "Z 7", "a 1 3", "a-1 2", "a1 8", "a1 4", "b 0", "z 6", "é 5"}, got); diff != "" {
			t.Errorf("orders (-want +got):\n%s", diff)
		}
		for _, r := range collect(t, b.RefundsOf(t.Context(), time.UnixMicro(993), time.UnixMicro(1001))) {
			gotRefunds = append(gotRefunds, r.Refund.Payment+" "+r.Refund.UniqueID)
		}
		if diff := cmp.Diff([]string{"B 1", "Z 7", "a 1 3", "a-1 2", "a1 4", "b 0", "z 6", "é 5"}, gotRefunds); diff != "" {
			t.Errorf("refunds (-want +got):\n%s", diff)
		}
		for range b.Entries(t.Context(), Payment, Month{}) {
			break // a loop that is left gives its connection back
		}
	})
}

// TestBegin: books are the copy of one app at one gateway, read in one zone, from one time on.
func TestBegin(t *testing.T) {
	server := gateway(t, sandbox.Options{})
	from := time.Now().AddDate(0, -1, 0)
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		for _, test := range []struct {
			name   string
			config cardgateway.Config
			from   time.Time
			want   string // empty: it goes well
		}{
			{"new without a time", cardgateway.Config{}, time.Time{}, "--from: the database is new: set the start of the copy"},
			{"a time to come", cardgateway.Config{}, time.Now().Add(time.Hour), "is not in the past"},
			{"new", cardgateway.Config{}, from, ""},
			{"an earlier time", cardgateway.Config{}, from.Add(-day), "the copy in the database begins at"},
			{"a later time", cardgateway.Config{}, from.Add(day), ""},
			{"another app", cardgateway.Config{AppID: "8", TestPayments: true}, time.Time{}, "a copy of the app 7, but app-id is 8"},
			{"another gateway", cardgateway.Config{BaseURL: "https://gateway.example"}, time.Time{}, "but base-url is https://gateway.example"},
			{"another zone", cardgateway.Config{Location: time.UTC}, time.Time{}, "created with zone UTC+8, but zone is UTC"},
		} {
			t.Run(test.name, func(t *testing.T) {
				if test.config.BaseURL == "" {
					test.config.BaseURL = server.URL
				}
				if test.config.AppID == "" {
					test.config.AppID = "7"
				}
				client, err := cardgateway.New(test.config)
				if err != nil {
					t.Fatal(err)
				}
				switch _, err := b.Sync(t.Context(), SyncOptions{Client: client, From: test.from}); {
				case test.want == "" && err != nil:
					t.Errorf("%s: %v", test.name, err)
				case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
					t.Errorf("%s: got %v, want in it %q", test.name, err, test.want)
				}
			})
		}
		exec(t, b, `UPDATE cardgateway_walks SET complete = $1`, micro(time.Now().Add(time.Hour)))
		if _, err := b.Sync(t.Context(), SyncOptions{Client: clientOf(t, server, "7")}); err == nil || !strings.Contains(err.Error(), "the clock of this machine") {
			t.Errorf("a clock set back: got %v", err)
		}
	})
}
