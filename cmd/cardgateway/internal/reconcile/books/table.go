package books

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/shopspring/decimal"
)

// table is the table of orders or refunds, which SQL calls $rows and r, and that of the merchant's list of them, $list and l. The first
// column is the id, the last the number of the walk.
type table struct {
	kind    string // orders or refunds, as stored in the database
	columns []string
	money   int      // the index of amount, which currency follows
	record  []string // columns whose changes are recorded
	key     string   // the column of the gateway's id, which is empty in unnamed rows
	id      string   // $id: the column of the merchant's id, or the gateway's if there is none. A line of the list has it
	same    []string // the columns, beside it, that an unnamed row and its later named row have in common
	list    string   // the table of the merchant's list
}

var ordersTable = table{
	kind:    "orders",
	columns: []string{"id", "unique_id", "transaction_id", "state", "code", "amount", "currency", "at", "card", "other_app", "test", "walk"},
	money:   5,
	record:  []string{"transaction_id", "state", "code", "amount", "currency", "at", "other_app", "test"},
	key:     "unique_id",
	id:      "transaction_id",
	same:    []string{"at"},
	list:    "cardgateway_listed_payments",
}

var refundsTable = table{
	kind:    "refunds",
	columns: []string{"id", "refund_unique_id", "merchant_refund_id", "unique_id", "state", "code", "amount", "currency", "at", "walk"},
	money:   6,
	record:  []string{"merchant_refund_id", "unique_id", "state", "code", "amount", "currency", "at"},
	key:     "refund_unique_id",
	id:      "merchant_refund_id",
	same:    []string{"unique_id", "at"},
	list:    "cardgateway_listed_refunds",
}

var bothTables = []*table{&ordersTable, &refundsTable}

// tableOf returns the table of a kind of rows.
func tableOf(kind Kind) *table {
	if kind == Refund {
		return &refundsTable
	}
	return &ordersTable
}

// keyColumn is the index of the column of the gateway's id.
const keyColumn = 1

func (t *table) staging() string { return "cardgateway_new_" + t.kind }

// record is a database row: a value for each column.
type record []any

func (r record) id() string { return r[0].(string) }

// orderRecord converts a row of the gateway for the copy of an app.
func orderRecord(o *cardgateway.Transaction, app cardgateway.AppID, zone *time.Location, walk int64) record {
	otherApp := ""
	if o.StatesOtherApp(app) {
		otherApp = cmp.Or(string(o.AppID), "?")
	}
	var test int64
	if o.IsTest {
		test = 1
	}
	id := cmp.Or(o.UniqueID, "transaction "+o.TransactionID+" "+o.TransactionAt.String())
	return record{kept(id), kept(o.UniqueID), kept(cmp.Or(o.TransactionID, o.UniqueID)), o.State().String(), int64(o.Code),
		amountText(o.TransactionAmount), kept(o.TransactionCurrency), micro(o.TransactionAt.In(zone)), kept(string(o.TransactionCardNumber)), otherApp, test, walk}
}

// refundRecord converts a refund. Its time is that of its request, as of a payment; without it, a refund would be in every period.
func refundRecord(r *cardgateway.Refund, zone *time.Location, walk int64) record {
	id := cmp.Or(r.RefundUniqueID, "refund "+r.MerchantRefundID+" "+r.UniqueID+" "+r.RefundRequestAt.String())
	return record{kept(id), kept(r.RefundUniqueID), kept(cmp.Or(r.MerchantRefundID, r.RefundUniqueID)), kept(r.UniqueID), r.State().String(), int64(r.Code),
		amountText(r.RefundAmount), kept(r.RefundCurrency), micro(cmp.Or(r.RefundRequestAt, r.RefundAt).In(zone)), walk}
}

// amountText returns an amount, or "" if the gateway has stated none, which is not zero.
func amountText(stated decimal.Decimal) string {
	if stated == (decimal.Decimal{}) {
		return ""
	}
	return stated.String()
}

// maxTextLength is the maximum length of a stored text in bytes: an id has at most 128 characters, and a Postgres index entry at
// most about 2,700 bytes.
const maxTextLength = 1024

// kept returns a text that both databases can store: Postgres accepts neither zero bytes nor invalid UTF-8. The end of a text
// that is too long is replaced by a hash of the text, so that different texts stay different.
func kept(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	if len(text) > maxTextLength {
		sum := sha256.Sum256([]byte(text))
		text = terminal.Cut(text, maxTextLength-80) + " " + hex.EncodeToString(sum[:])
	}
	return text
}

// micro converts a time to its form in the database.
func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// fromMicro is the inverse of micro.
func fromMicro(at int64, zone *time.Location) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.UnixMicro(at).In(zone)
}
