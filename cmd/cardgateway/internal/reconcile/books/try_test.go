package books

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestTry reads lists in the forms in which systems export them: each is read completely and right, or said to be unsure or unreadable.
func TestTry(t *testing.T) {
	for _, test := range []struct {
		name, text string
		source     ListSource
		want       string // the first line as read, the form of amounts and dates, the numbers of lines, of what is unsure, and of problems
	}{
		{"Shopify orders", "Name,Email,Financial Status,Paid at,Currency,Total,Payment Reference\n#1001,a@b,paid,2026-10-02 09:00:15 +0200,EUR,12.50,c1\n",
			ListSource{}, "c1 12.5 EUR approved #1001 2026-10-02 07:00:15   1 0 0"},
		{"Stripe payments", "id,Amount,Currency,Created (UTC),Status\nch_1,\"1,234.50\",eur,2026-10-02 09:00,Paid\nch_2,7.00,eur,2026-10-02 09:01,Failed\n",
			ListSource{Columns: map[string]string{"transaction_id": "id"}}, "ch_1 1234.5 EUR approved  2026-10-02 09:00:00 1,234.50  2 0 0"},
		{"WooCommerce, processing", "Order Number,Order Status,Order Date,Order Total Amount,Transaction ID\n17,Processing,2026-10-02 09:00,12.50,t1\n",
			ListSource{Currency: "USD", States: map[string]string{"processing": "approved"}}, "t1 12.5 USD approved 17 2026-10-02 09:00:00   1 0 0"},
		{"a state that is empty", "ref,amount,currency,status\nt1,5,EUR,\nt2,6,EUR,paid\n", ListSource{}, "t2 6 EUR approved     1 0 1"},
		{"a state that is empty, and what that means", "ref,amount,currency,status\nt1,5,EUR,\nt2,6,EUR,paid\n",
			ListSource{States: map[string]string{"": "declined"}}, "t1 5 EUR declined     2 0 0"},
		{"PayPal, two columns", "\xef\xbb\xbf\"Date\",\"Time\",\"TimeZone\",\"Status\",\"Currency\",\"Gross\",\"Transaction ID\"\n\"10/22/2026\",\"09:00:15\",\"CET\",\"Completed\",\"USD\",\"1,234.50\",\"9AB\"\n",
			ListSource{}, "9AB 1234.5 USD approved  2026-10-22 09:00:15 1,234.50 MM/DD/YYYY 1 1 0"},
		{"the zone is said", "ref,amount,currency,Date,Time,Time Zone\nt1,5,EUR,2026-10-02,09:00:15,PDT\n", ListSource{Zone: time.UTC}, "t1 5 EUR approved  2026-10-02 09:00:15   1 0 0"},
		{"a zone in the title", "ref,amount,currency,Date (GMT+2)\nt1,5,EUR,2026-10-02 09:00\n", ListSource{Columns: map[string]string{"at": "Date (GMT+2)"}},
			"t1 5 EUR approved  2026-10-02 09:00:00   1 1 0"},
		{"Braintree", "Transaction ID,Created Datetime,Created Timezone,Amount Submitted For Settlement,Currency ISO Code\n8x,2026-10-02 09:00,CDT,5,USD\n",
			ListSource{Columns: map[string]string{"at": "Created Datetime", "amount": "Amount Submitted For Settlement", "currency": "Currency ISO Code"}},
			"8x 5 USD approved  2026-10-02 09:00:00   1 1 0"},
		{"refunds with the ids of their payments", "Refund ID,Transaction ID,Amount,Currency\nr1,t1,5,EUR\n", ListSource{}, "t1 5 EUR approved     1 1 0"},
		{"payments with the ids of their refunds", "Refund ID,Transaction ID,Amount,Currency\nr1,t1,5,EUR\n",
			ListSource{Columns: map[string]string{"transaction_id": "Transaction ID"}}, "t1 5 EUR approved     1 0 0"},
		{"refunds with their states", "Refund ID,Amount,Currency,Status\nr1,5,EUR,Refunded\nr2,5,EUR,accepted\nr3,5,EUR,failed\nr4,5,EUR,done\n", ListSource{},
			"r1 5 EUR approved     3 0 1"},
		{"refunds, as is said", "Refund ID,Transaction ID,Amount,Currency\nr1,t1,5,EUR\n",
			ListSource{Columns: map[string]string{"refund_id": "Refund ID"}}, "r1 5 EUR approved     1 0 0"},
		{"payments with their refunds' amounts", "Ref,Amount,Refund,Currency\nt1,5,0.00,EUR\n", ListSource{}, "t1 5 EUR approved     1 0 0"},
		{"German spreadsheet", "Umsatz;;;\n\nReferenz;Betrag;Währung;Datum\nt-1;1.234,50 €;EUR;31.10.2026\nt-2;7,00 €;EUR;01.10.2026\nSumme;1.241,50;;\n",
			ListSource{}, "t-1 1234.5 EUR approved  2026-10-31 00:00:00 1.234,50 DD.MM.YYYY 2 0 0"},
		{"French spreadsheet", "Référence;Montant;Devise;Date\nt-1;1\u202f234,50;EUR;31/10/2026\n", ListSource{Columns: map[string]string{"transaction_id": "Référence"}},
			"t-1 1234.5 EUR approved  2026-10-31 00:00:00 1 234,50 DD/MM/YYYY 1 0 0"},
		{"Swiss export", "Referenz;Betrag;Währung\n=\"0012\";1'234.50;CHF\n", ListSource{}, "0012 1234.5 CHF approved   1'234.50  1 0 0"},
		{"Swiss, the other apostrophe", "Referenz;Betrag;W\u00e4hrung\nt1;1\u2019234\u2019567.50;CHF\n", ListSource{}, "t1 1234567.5 CHF approved   1'234.50  1 0 0"},
		{"India", "ref,amount,currency\nt1,\"\u20b912,34,567.50\",INR\n", ListSource{}, "t1 1234567.5 INR approved   1,234.50  1 0 0"},
		{"trailing minus", "refund_id;amount;currency\nr1;1.234,50-;EUR\n", ListSource{}, "r1 1234.5 EUR approved   1.234,50  1 0 0"},
		{"parentheses and a sign", "refund_id;amount;currency\nr1;($1,234.50);USD\n", ListSource{}, "r1 1234.5 USD approved   1,234.50  1 0 0"},
		{"decimals that two forms have", "ref;amount;currency\nt1;1,50;EUR\n", ListSource{}, "t1 1.5 EUR approved   1.234,50  1 0 0"},
		{"two minus", "ref;amount;currency\nt1;-5-;EUR\nt2;5;EUR\n", ListSource{}, "t2 5 EUR approved     1 0 1"},
		{"a comma as decimals and thousands", "ref;amount;currency\nt1;1,500;KWD\nt2;2,250;KWD\n", ListSource{}, "t1 1500 KWD approved   1,234.50  2 1 0"},
		{"UTF-16", "\xff\xfer\x00e\x00f\x00\t\x00a\x00m\x00o\x00u\x00n\x00t\x00\n\x00\xfc\x00\t\x005\x00\n\x00", ListSource{Currency: "EUR"}, "\u00fc 5 EUR approved     1 0 0"},
		{"Adyen", "Psp Reference,Merchant Reference,Amount,Currency,Creation Date\nP1,t1,12.50,EUR,2026-10-02 09:00:15\n", ListSource{},
			"t1 12.5 EUR approved  2026-10-02 09:00:15   1 0 0"},
		{"accounting, parentheses", "Ref,Amount,Currency\nt1,(12.50),USD\nt2,\"1,000.00\",USD\n", ListSource{}, "t2 1000 USD approved   1,234.50  1 0 1"},
		{"Excel, empty last cells", "transaction_id;amount;currency;order;at\nt1;5;EUR;A;2026-10-02\nt2;6;EUR\n", ListSource{}, "t1 5 EUR approved A 2026-10-02 00:00:00   2 0 0"},
		{"AM and PM", "ref,amount,currency,date\nt1,5,EUR,\"Oct 2, 2026, 9:00:15 PM\"\n", ListSource{}, "t1 5 EUR approved  2026-10-02 21:00:15   1 0 0"},
		{"serial dates", "ref\tamount\tcurrency\tdate\nt1\t5\tEUR\t46297.375\n", ListSource{}, "t1 5 EUR approved  2026-10-02 09:00:00   1 0 0"},
		{"cents", "ref,amount,currency\nt1,1250,EUR\n", ListSource{Amounts: "123450"}, "t1 12.5 EUR approved   123450  1 0 0"},
		{"refunds", "refund_id|amount|currency\nr1|-5.00|EUR\n", ListSource{}, "r1 5 EUR approved     1 0 0"},
		{"the gateway's ids", "uniqueId,amount,currency\n901,5,EUR\n", ListSource{}, "901 5 EUR approved     1 0 0"},
		{"workbook", workbookOf(t, nil, workbookTitles+`<row r="4"><c r="A4" t="s"><v>0</v></c><c r="B4"><v>12.5</v></c><c r="D4" t="str"><v>EUR</v></c><c r="E4" s="2"><v>46297</v></c></row>`),
			ListSource{}, "t-1 12.5 EUR approved  2026-10-02 00:00:00   1 0 0"},
		{"thousands or decimals", "ref,amount,currency\nt1,1.000,EUR\n", ListSource{}, "t1 1000 EUR approved   1.234,50  1 1 0"},
		{"day or month", "ref,amount,currency,date\nt1,5,EUR,01/02/2026\n", ListSource{}, "t1 5 EUR approved  2026-01-02 00:00:00  MM/DD/YYYY 1 1 0"},
		{"day or month of each other", "ref,amount,currency,date\nt1,5,EUR,01/02/2026\nt2,5,EUR,02/01/2026\n", ListSource{}, "t1 5 EUR approved  2026-01-02 00:00:00  MM/DD/YYYY 2 1 0"},
		{"a currency without decimals", "ref,amount,currency\nt1,\"1,234\",JPY\nt2,950,JPY\n", ListSource{}, "t1 1234 JPY approved   1,234.50  2 0 0"},
		{"currencies in the amounts", "ref,amount\nt1,EUR 1.50\n", ListSource{Currency: "EUR"}, "t1 1.5 EUR approved   1,234.50  1 0 0"},
		{"no currency", "ref,amount\nt1,1.50\n", ListSource{}, "Name the column with --columns currency=NAME, or say the currency of all lines with --list-currency"},
		{"a comma without quotation marks", "ref,currency,amount,note\nt1,EUR,7.50,\nt2,EUR,12,50,\nt3,EUR,1,234.50,\n", ListSource{}, "t1 7.5 EUR approved     1 0 1"},
		{"a comma without quotation marks, no title", "ref,currency,amount,\nt1,EUR,7.50\nt2,EUR,12,50\nt3,EUR,12,x\n", ListSource{}, "t1 7.5 EUR approved     2 0 1"},
		{"titles on each page", "ref;amount;currency\nt1;5;EUR\nref;amount;currency\nt2;5;EUR\n\ufeffref;amount;currency\nt3;5;EUR\n", ListSource{}, "t1 5 EUR approved     3 0 0"},
		{"two tables", "ref;currency;amount;fee\nt1;EUR;5;1\nref;currency;fee;amount\nt2;EUR;1;7\nt3;EUR;1;7\n", ListSource{}, "t1 5 EUR approved     1 0 2"},
		{"totals of days and of a currency", "ref;amount;currency\nt1;5;EUR\nt2;6;EUR\nSubtotal;11;EUR\nt3;7;EUR\nSubtotal;7;EUR\nTotal EUR;18;EUR\nSubtotal;8;EUR\n", ListSource{},
			"t1 5 EUR approved     3 0 1"},
		{"errors of a French spreadsheet", "ref,amount,currency\n#VALEUR!,5,EUR\nErr:502,5,EUR\n#1001!,5,EUR\n", ListSource{}, "#1001! 5 EUR approved     1 0 1"},
		{"shortened ids", "ref,amount,currency\n1.23e+11,5,EUR\n1E+11,5,EUR\n1E11,5,EUR\n", ListSource{}, "1E11 5 EUR approved     1 0 1"},
		{"November in Finnish", "ref,amount,currency,date\nt1,5,EUR,2. marraskuuta 2026\nt2,5,EUR,2. March 2026\n", ListSource{}, "t2 5 EUR approved  2026-03-02 00:00:00   1 0 1"},
		{"two states", "ref,amount,currency,Status,Payment Status\nt1,5,EUR,completed,declined\n", ListSource{}, "t1 5 EUR approved     1 1 0"},
		{"two times", "ref,amount,currency,Created at,Paid at\nt1,5,EUR,2026-10-02,2026-10-03\n", ListSource{}, "t1 5 EUR approved  2026-10-02 00:00:00   1 1 0"},
		{"words", "ref,amount,currency,status\nt1,5,EUR,offen\nt2,x,EUR,paid\nt3,5,EUR,paid\n", ListSource{}, "t3 5 EUR approved     1 0 2"},
		{"Shopify, an order of two products", "Name,Financial Status,Currency,Total,Payment Reference\n#1,paid,EUR,12.50,c1\n#1,,,,\n#2,paid,EUR,7,c2\n", ListSource{},
			"c1 12.5 EUR approved #1    2 0 0"},
		{"a foot without an id", ",Ref,Amount,Currency\n,t1,5,EUR\n\"Tuesday, Nov 10, 2026 - Accrual Basis\"\n", ListSource{}, "t1 5 EUR approved     1 0 0"},
		{"NULL of MySQL and Postgres", "transaction_id\tamount\tcurrency\torder\tat\nt1\t5\tEUR\tNULL\t2026-10-02\nt2\t5\tEUR\t\\N\t\\N\n", ListSource{},
			"t1 5 EUR approved  2026-10-02 00:00:00   2 0 0"},
		{"total of SAP", "|ref|amount|currency|\n|t1|5,00|EUR|\n|t2|6,00|EUR|\n|*|11,00|EUR|\n", ListSource{}, "t1 5 EUR approved   1.234,50  2 0 0"},
		{"Chinese dates", "ref,amount,currency,date\nt1,5,CNY,2026年10月2日 9:05\n", ListSource{}, "t1 5 CNY approved  2026-10-02 09:05:00   1 0 0"},
		{"rupees", "ref,amount,currency\nt1,\"Rs. 1,23,456.00\",INR\n", ListSource{}, "t1 123456 INR approved   1,234.50  1 0 0"},
		{"a title in other letters", "ref,total\nt,1\n", ListSource{Columns: map[string]string{"transaction_id": "ref", "amount": "Total"}, Currency: "usd"},
			"t 1 USD approved     1 0 0"},
		{"a column that is left out", "transaction_id;amount;currency;date\nt;1.234,50;EUR;22.11.26\n",
			ListSource{Amounts: "1.234,50", Columns: map[string]string{"at": ""}}, "t 1234.5 EUR approved   1.234,50  1 0 0"},
		{"a report with totals", "Shop report\n\nOctober;2026;;\ntransaction_id;amount;currency;note\n=\"t\";5;EUR\n;5.00;;Grand Total\nTotal;5;;\n", ListSource{},
			"t 5 EUR approved     1 0 0"},
		{"JSON lines", "{\"ref\":1}\n", ListSource{}, "is JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := test.source
			s.Path, s.ColumnsFlag = csvList(t, test.text).Path, "--columns"
			got, err := Try(t.Context(), s)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %s", err, test.want)
				}
				return
			}
			l, at := got.First[0], ""
			if !l.At.IsZero() {
				at = l.At.UTC().Format(time.DateTime)
			}
			if text := fmt.Sprint(strings.Join([]string{l.ID, l.Amount.String(), l.Currency, l.State, l.Order, at, got.Source.Amounts, got.Source.Dates}, " "), " ",
				got.Rows, " ", len(got.Unsure), " ", len(got.Problems)); text != test.want {
				t.Errorf("got  %s\nwant %s\n%+v", text, test.want, got)
			}
		})
	}
}
