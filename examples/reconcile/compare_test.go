package main

import (
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/google/go-cmp/cmp"
)

// TestCompare has a row for every way in which a list and a gateway can differ, and some for ways in which they agree.
func TestCompare(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := newBench(t, db, monthsAgo(1), sandbox.Options{}).books
		for _, statement := range []string{
			`INSERT INTO orders (id, unique_id, transaction_id, state, code, amount, currency, happened) VALUES
				('1', '1', 'agrees',      'approved',   100, '12.5', 'USD', 1),
				('2', '2', 'retried',     'declined',   101, '3',    'USD', 2),
				('3', '3', 'retried',     'approved',   100, '3',    'USD', 3),
				('4', '4', 'unlisted',    'approved',   100, '4',    'USD', 4),
				('5', '5', 'declined',    'declined',   101, '5',    'USD', 5),
				('6', '6', 'amount',      'approved',   100, '6',    'USD', 6),
				('7', '7', 'currency',    'approved',   100, '7',    'USD', 7),
				('8', '8', 'twice',       'approved',   100, '8',    'USD', 8),
				('9', '9', 'twice',       'approved',   100, '8',    'USD', 9),
				('10', '10', 'given back', 'approved',  100, '10',   'USD', 10),
				('11', '11', 'too much',  'approved',   100, '11',   'USD', 11),
				('12', '12', 'processing', 'processing', 102, '12',  'USD', 12),
				('13', '13', 'euros back', 'approved',  100, '13',   'USD', 13),
				('14', '14', 'not taken', 'declined',   101, '14',   'USD', 14)`,
			`INSERT INTO refunds (id, refund_unique_id, merchant_refund_id, unique_id, code, amount, currency, requested) VALUES
				('101', '101', 'r', '10', 111, '9.99',   'USD', 1),
				('102', '102', 'r', '10', 111, '0.01',   'USD', 2),
				('103', '103', 'r', '11', 111, '11',     'USD', 3),
				('104', '104', 'r', '11', 112, '100',    'USD', 4),
				('105', '105', 'r', '11', 111, '0.001',  'USD', 5),
				('106', '106', 'r', '99', 111, '1',      'USD', 6),
				('107', '107', 'r', '13', 111, '500',    'EUR', 7),
				('108', '108', 'r', '14', 111, '2',      '',    8)`,
		} {
			if _, err := b.db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		list := "\uFEFFcurrency, transaction_id,note,amount\r\n" +
			"USD,agrees,,12.50\nUSD,retried,,3\nUSD,declined,,5\nUSD,amount,,6.1\nEUR,currency,,7\nUSD,twice,,8.00\n" +
			"USD,given back,,10\nUSD,too much,,11\nUSD,euros back,,13\nUSD,processing,,12\nUSD,absent,\"a, b\",13\n"
		for range 2 { // a list replaces the one before
			if err := b.ReadList(t.Context(), strings.NewReader(list)); err != nil {
				t.Fatal(err)
			}
		}
		var got []Difference
		if err := b.Compare(t.Context(), func(d Difference) { got = append(got, d) }); err != nil {
			t.Fatal(err)
		}
		want := []Difference{
			{"paid, and not in the list", "unlisted", "4 USD", ""},
			{"in the list, and not paid", "absent", "nothing", "13 USD"},
			{"in the list, and not paid", "declined", "declined", "5 USD"},
			{"in the list, and not paid", "processing", "processing", "12 USD"},
			{"another amount", "amount", "6 USD", "6.1 USD"},
			{"another amount", "currency", "7 USD", "7 EUR"},
			{"given back in another currency", "euros back", "500 EUR of 13 USD", ""},
			{"paid more than once", "twice", "2 payments", ""},
			{"more given back than paid", "too much", "11.001 of 11", ""},
			{"more given back than paid", "not taken", "2 of 0", ""},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
		}
	})
}

func TestReadListRefuses(t *testing.T) {
	b := newBench(t, ":memory:", monthsAgo(1), sandbox.Options{}).books
	if err := b.ReadList(t.Context(), strings.NewReader("transaction_id,amount,currency\nkept,1,USD\n")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, list, says string }{
		{"nothing", "", "it is empty"},
		{"no heading", "t-1,12.50,USD\n", `one column "transaction_id"; there are ["t-1" "12.50" "USD"]`},
		{"a column is missing", "transaction_id,amount\nt-1,12.50\n", `one column "currency"`},
		{"a column twice", "transaction_id,amount,currency,amount\nt-1,1,USD,2\n", `one column "amount"`},
		{"a field is missing", "transaction_id,amount,currency\nt-1,12.50,USD\nt-2,1\n", "line 3"},
		{"a quote is open", "transaction_id,amount,currency\n\"t-1,12.50,USD\n", "line"},
		{"no id", "transaction_id,amount,currency\n,12.50,USD\n", `line 2: transaction_id "" has not 1 to 255`},
		{"a long id", "transaction_id,amount,currency\n" + strings.Repeat("x", 256) + ",12.50,USD\n", `xxx" has not 1 to 255`},
		{"twice", "transaction_id,amount,currency\nt-1,1,USD\nt-1,1,USD\n", "line 3: transaction_id t-1 is in the list twice"},
		{"no number", "transaction_id,amount,currency\nt-1,12.50 USD,USD\n", `amount "12.50 USD"`},
		{"an exponent", "transaction_id,amount,currency\nt-1,1e999999999,USD\n", `amount "1e999999999"`},
		{"negative", "transaction_id,amount,currency\nt-1,-1,USD\n", `amount "-1"`},
		{"four decimals", "transaction_id,amount,currency\nt-1,1.0001,USD\n", `amount "1.0001"`},
		{"a long text", "transaction_id,amount,currency\nt-1," + strings.Repeat("x", 1000) + ",USD\n", `xxx" is not`},
		{"a symbol", "transaction_id,amount,currency\nt-1,1,$\n", `currency "$"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := b.ReadList(t.Context(), strings.NewReader(test.list))
			if err == nil || !strings.Contains(err.Error(), test.says) || len(err.Error()) > 200 {
				t.Errorf("got %v, want it to say %q", err, test.says)
			}
			if kept := column(t, b, `SELECT transaction_id FROM list`); len(kept) != 1 || kept[0] != "kept" {
				t.Errorf("the list before is %q", kept)
			}
		})
	}
}

func TestShown(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"order-1", "order-1"},
		{"Müller 漢字", "Müller 漢字"},
		{"a\nb\x1b[2J", `"a\nb\x1b[2J"`},
		{strings.Repeat("é", 255), strings.Repeat("é", 255)},
		{strings.Repeat("é", 256), strings.Repeat("é", 255) + "…"},
		{"t ", `"t "`},
	} {
		if got := shown(test.text); got != test.want {
			t.Errorf("shown(%q) = %s, want %s", test.text, got, test.want)
		}
	}
}
