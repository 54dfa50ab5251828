package tabular

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/shopspring/decimal"
)

// hostile is a payment with texts that do harm where they are not handled.
func hostile(t *testing.T) *cardgateway.Transaction {
	t.Helper()
	at, err := cardgateway.ParseWallTime("2026-11-22 03:10:00")
	if err != nil {
		t.Fatal(err)
	}
	return &cardgateway.Transaction{
		Code: cardgateway.CodeFailed, TransactionAt: at, TransactionAmount: decimal.RequireFromString("1234.50"), TransactionCurrency: "EUR",
		TransactionCardNumber: "430000******0000", TransactionID: "=1+1", UniqueID: "17",
		TransactionMessage: "\x1b[2Jcard\u202eexpired,\n\"sorry\", and a text that is longer than a table shows",
		RedirectURL:        "https://gateway.example/?guard=AGsC0123",
		BillingAddress:     &cardgateway.Address{Email: "customer@shop.example"},
	}
}

func TestRowFormats(t *testing.T) {
	zone := time.FixedZone("", 8*3600)
	small := &cardgateway.Transaction{Code: cardgateway.CodeSuccess, TransactionAmount: decimal.RequireFromString("7"), TransactionCurrency: "JPY",
		TransactionID: "t-2", UniqueID: "18"}
	for format, want := range map[string]string{
		Table: `
time                 state      amount  currency  card              transaction  unique id  message
2026-11-22 03:10:00  declined  1234.50  EUR       430000******0000  =1+1         17         \u001b[2Jcard\u202eexpired,\u000a"sorry…
                     approved        7  JPY                         t-2          18
`,
		CSV: `
transactionAt,at,state,transactionAmount,transactionCurrency,transactionCardNumber,transactionId,uniqueId,code,message,transactionMessage,transactionMethod,transactionType,is3d,isTest,appId
2026-11-22 03:10:00,2026-11-22T03:10:00+08:00,declined,1234.50,EUR,430000******0000,'=1+1,17,101,,"\u001b[2Jcard\u202eexpired,\u000a""sorry"", and a text that is longer than a table shows",,,,false,
,,approved,7,JPY,,t-2,18,100,,,,,,false,
`,
		JSONL: `
{"transactionAt":"2026-11-22 03:10:00","at":"2026-11-22T03:10:00+08:00","state":"declined","transactionAmount":"1234.50","transactionCurrency":"EUR","transactionCardNumber":"430000******0000","transactionId":"=1+1","uniqueId":"17","code":101,"message":"","transactionMessage":"\u001b[2Jcard\u202eexpired,\n\"sorry\", and a text that is longer than a table shows","transactionMethod":"","transactionType":"","is3d":null,"isTest":false,"appId":""}
{"transactionAt":"","at":null,"state":"approved","transactionAmount":"7","transactionCurrency":"JPY","transactionCardNumber":"","transactionId":"t-2","uniqueId":"18","code":100,"message":"","transactionMessage":"","transactionMethod":"","transactionType":"","is3d":null,"isTest":false,"appId":""}
`,
	} {
		t.Run(format, func(t *testing.T) {
			var out bytes.Buffer
			w := NewWriter(format, PaymentColumns(zone, (*cardgateway.Transaction).Paid), false, &out)
			for _, row := range []*cardgateway.Transaction{hostile(t), small} {
				if err := w.Write(row); err != nil {
					t.Error(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Error(err)
			}
			if got := out.String(); got != want[1:] {
				t.Errorf("got\n%s\nwant\n%s", got, want[1:])
			}
		})
	}
}

// TestTableInPieces: a long table has its titles once, and columns that do not become narrower.
func TestTableInPieces(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(Table, PaymentColumns(time.UTC, (*cardgateway.Transaction).Paid), false, &out)
	for i := range 1200 {
		row := hostile(t)
		row.TransactionID, row.TransactionMessage = fmt.Sprintf("transaction-%04d", i), ""
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 1201 {
		t.Errorf("got %d lines, want 1201", len(lines))
	}
	for _, line := range lines[1:] {
		if len(line) != len(lines[1]) {
			t.Fatalf("got the line %q, want one as wide as %q", line, lines[1])
		}
	}
}

// TestCSVFormulas: what a spreadsheet would run as a formula is guarded, and amounts are not.
func TestCSVFormulas(t *testing.T) {
	for value, want := range map[any]string{
		"=1": "'=1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\tx": `'\u0009x`, "x=1": "x=1", "": "", -3: "-3", true: "true",
	} {
		if got := csvText(value); got != want {
			t.Errorf("got %q for %q, want %q", got, value, want)
		}
	}
	if got := csvText(decimal.RequireFromString("-12.50")); got != "-12.50" {
		t.Errorf("got %q, want the amount", got)
	}
}

func TestSums(t *testing.T) {
	var s Sums
	for _, row := range []struct{ currency, state, amount string }{
		{"USD", "approved", "10.00"}, {"EUR", "declined", "3.5"}, {"EUR", "approved", "1000.10"}, {"EUR", "approved", "0.40"},
	} {
		s.Add(row.currency, row.state, decimal.RequireFromString(row.amount))
	}
	var out bytes.Buffer
	if err := s.Print(&out); err != nil {
		t.Fatal(err)
	}
	want := "2  approved  1000.50  EUR\n1  declined      3.5  EUR\n1  approved    10.00  USD\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if s.Rows() != 4 {
		t.Errorf("got %d rows, want 4", s.Rows())
	}
}

// FuzzCell: whatever the gateway sends, a terminal is not steered, a spreadsheet runs nothing, and JSON keeps the text.
func FuzzCell(f *testing.F) {
	for _, text := range []string{"Approved", "=1+1", "\x1b[2J", "\u009b2J", "a\u202eb", "\xff\x9b", "\t=1", "\u2028", `\u001b "`, "\r\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		columns := []Column[string]{{"member", "title", func(s *string) any { return *s }}}
		for _, format := range []string{Table, CSV, JSONL, Details} {
			var out bytes.Buffer
			w := NewWriter(format, columns, true, &out)
			if err := cmp.Or(w.Write(&text), w.Flush()); err != nil {
				t.Fatal(err)
			}
			got := out.String()
			if bare := strings.ReplaceAll(got, "\n", ""); terminal.Clean(bare) != bare {
				t.Errorf("%s: got %q of %q", format, got, text)
			}
			if format == CSV && strings.ContainsAny(got[:1], "=+-@\t\r") {
				t.Errorf("got %q, which a spreadsheet may run", got)
			}
			var back struct{ Member string }
			if format == JSONL && (json.Unmarshal([]byte(got), &back) != nil || back.Member != strings.ToValidUTF8(text, "\ufffd")) && utf8.ValidString(text) {
				t.Errorf("got %q back of %q", back.Member, text)
			}
		}
	})
}
