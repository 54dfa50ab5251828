package books

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// TestReadTime reads times as lists write them, in Berlin, where the clocks show 02:00 to 03:00 twice on 2026-10-25.
func TestReadTime(t *testing.T) {
	zone := berlin(t)
	for _, test := range []struct{ name, dates, text, start, end string }{
		{"none", "", "", "", ""},
		{"summer", "", "2026-10-24 12:00:00", "2026-10-24T10:00:00Z", "2026-10-24T10:00:00Z"},
		{"winter", "", "2026-10-26 12:00", "2026-10-26T11:00:00Z", "2026-10-26T11:00:00Z"},
		{"just before the hour that is there twice", "", "2026-10-25 01:59:59", "2026-10-24T23:59:59Z", "2026-10-24T23:59:59Z"},
		{"the hour that is there twice", "", "2026-10-25 02:00:00", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
		{"the end of it", "", "2026-10-25T02:59:59", "2026-10-25T00:59:59Z", "2026-10-25T01:59:59Z"},
		{"just after it", "", "2026-10-25 03:00:00", "2026-10-25T02:00:00Z", "2026-10-25T02:00:00Z"},
		{"in it, with its own zone", "", "2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00Z", "2026-10-25T01:30:00Z"},
		{"a day of 25 hours", "", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T22:59:59Z"},
		{"an hour that clocks skip", "", "2026-03-29 02:30:00", "2026-03-29T01:30:00Z", "2026-03-29T01:30:00Z"},
		{"German", "DD.MM.YYYY hh:mm:ss", "31.10.2026 18:37:59", "2026-10-31T17:37:59Z", "2026-10-31T17:37:59Z"},
		{"German, without seconds", "DD.MM.YYYY hh:mm:ss", "31.10.2026 18:37", "2026-10-31T17:37:00Z", "2026-10-31T17:37:00Z"},
		{"German, a date alone", "DD.MM.YYYY hh:mm:ss", "31.10.2026", "2026-10-30T23:00:00Z", "2026-10-31T22:59:59Z"},
		{"German, the time of day is not named", "DD.MM.YYYY", "1.2.2026 08:05:06", "2026-02-01T07:05:06Z", "2026-02-01T07:05:06Z"},
		{"German, the hour that is there twice", "DD.MM.YYYY", "25.10.2026 02:30", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		{"two digits of the year", "DD.MM.YY, hh:mm", "31.10.26, 18:37", "2026-10-31T17:37:00Z", "2026-10-31T17:37:00Z"},
		{"American", "MM/DD/YYYY", "10/09/2026 12:00", "2026-10-09T10:00:00Z", "2026-10-09T10:00:00Z"},
		{"without separators", "YYYYMMDD", "20261009", "2026-10-08T22:00:00Z", "2026-10-09T21:59:59Z"},
		{"ISO 8601 in any case", "DD.MM.YYYY", "2026-10-24T12:00:00Z", "2026-10-24T12:00:00Z", "2026-10-24T12:00:00Z"},
		{"an offset without colon", "", "2026-10-02 09:00:15 +0200", "2026-10-02T07:00:15Z", "2026-10-02T07:00:15Z"},
		{"an offset of hours", "", "2026-10-02 09:00:15.123-05", "2026-10-02T14:00:15Z", "2026-10-02T14:00:15Z"},
		{"UTC in letters", "", "2026-10-02 09:00 UTC", "2026-10-02T09:00:00Z", "2026-10-02T09:00:00Z"},
		{"RFC 1123", "", "Fri, 02 Oct 2026 09:00:15 GMT", "2026-10-02T09:00:15Z", "2026-10-02T09:00:15Z"},
		{"as JavaScript", "", "Fri Oct 02 2026 09:00:15 GMT+0200", "2026-10-02T07:00:15Z", "2026-10-02T07:00:15Z"},
		{"PM", "", "Oct 2, 2026, 9:00:15\u202fPM", "2026-10-02T19:00:15Z", "2026-10-02T19:00:15Z"},
		{"midnight in AM", "MM/DD/YYYY", "10/02/2026 12:30 a.m.", "2026-10-01T22:30:00Z", "2026-10-01T22:30:00Z"},
		{"a month in letters", "", "2-Oct-26", "2026-10-01T22:00:00Z", "2026-10-02T21:59:59Z"},
		{"a German month", "", "2. Oktober 2026, 09:00 Uhr", "2026-10-02T07:00:00Z", "2026-10-02T07:00:00Z"},
		{"the year first", "", "2026/10/02 09:00", "2026-10-02T07:00:00Z", "2026-10-02T07:00:00Z"},
		{"a number of a spreadsheet", "", "46297.375", "2026-10-02T07:00:00Z", "2026-10-02T07:00:00Z"},
		{"a day of a spreadsheet", "", "46297", "2026-10-01T22:00:00Z", "2026-10-02T21:59:59Z"},
		{"a zone in letters", "", "2026-10-02 09:00 CEST", "refused", ""},
		{"a number of another kind", "", "1790931600", "refused", ""},
		{"German, not said", "", "31.10.2026", "refused", ""},
		{"no such day", "DD.MM.YYYY", "31.11.2026", "refused", ""},
		{"another order", "DD.MM.YYYY", "10/09/2026", "refused", ""},
		{"year 0", "", "0000-01-01", "refused", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			layouts, err := (&ListSource{Dates: test.dates}).timeLayouts()
			if err != nil {
				t.Fatal(err)
			}
			got, err := (&lineReader{ListSource: ListSource{Zone: zone}, layouts: layouts}).readTime(test.text)
			if test.start == "refused" {
				if err == nil || !strings.Contains(err.Error(), "with --dates") {
					t.Errorf("got %v, %v, want an error that names dates", got, err)
				}
				return
			}
			text := func(at time.Time) string {
				if at.IsZero() {
					return ""
				}
				return at.UTC().Format(time.RFC3339)
			}
			if err != nil || text(got.start) != test.start || text(got.end) != test.end {
				t.Errorf("got %s to %s, %v, want %s to %s", text(got.start), text(got.end), err, test.start, test.end)
			}
		})
	}
}

func TestDatesRefused(t *testing.T) {
	for _, dates := range []string{"DD.MM", "DD.DD.YYYY", "YYYY-YY-MM", "YYYY-DD-MM", "dd.mm.yyyy", "02.01.2006", "DD.MM.YYYY hh", "DD.MM.YYYY x", "DD MM YYYY"} {
		t.Run(dates, func(t *testing.T) {
			if layouts, err := (&ListSource{Dates: dates}).timeLayouts(); err == nil || !strings.Contains(err.Error(), "--dates: ") {
				t.Errorf("got %v, %v, want an error that names dates", layouts, err)
			}
		})
	}
}

// TestImportAsWritten reads a list of a German shop: its words for states, its dates in its own zone, the total of the order, and a
// credit note, which is no payment.
func TestImportAsWritten(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		source := csvList(t, "\xef\xbb\xbfReferenz;Bestellung;Bestellsumme;Betrag;Status;Datum\r\n"+
			"t-1;A-1;1.100,00;1.000,00;Bezahlt;31.10.2026 18:37:59\r\n"+
			"t-2;A-1;1.100,00;100,00;BEZAHLT;25.10.2026 02:30:00\r\n"+
			"t-3;A-2;;7,00;storniert;31.10.2026\r\n"+
			"t-4;A-3;;7,00;paid;\r\n"+
			"t-5;A-4;;7,00;offen;\r\n"+
			"t-6;A-5;;-7,00;bezahlt;\r\n"+
			"t-7;A-6;-1,00;7,00;bezahlt;\r\n")
		source.Columns = map[string]string{
			"transaction_id": "Referenz", "order": "Bestellung", "order_total": "Bestellsumme", "amount": "Betrag", "state": "Status", "at": "Datum",
		}
		source.Currency, source.Amounts, source.Zone, source.Dates = "EUR", "1.234,50", berlin(t), "DD.MM.YYYY hh:mm:ss"
		source.States = map[string]string{"bezahlt": "approved", "storniert": "declined"}
		info, err := importOne(t.Context(), b, Payment, source)
		if err != nil {
			t.Fatal(err)
		}
		want := ReadAs{
			Columns: []ColumnTitle{{"transaction_id", "Referenz"}, {"amount", "Betrag"}, {"state", "Status"}, {"order", "Bestellung"},
				{"order_total", "Bestellsumme"}, {"at", "Datum"}},
			Amounts: "1.234,50", Zone: "Europe/Berlin", Dates: "DD.MM.YYYY hh:mm:ss",
			States: []StateWord{{"bezahlt", "approved", 2}, {"paid", "approved", 1}, {"storniert", "declined", 1}},
		}
		if diff := cmp.Diff(want, info.As); diff != "" {
			t.Errorf("read as (-want +got):\n%s", diff)
		}
		if whole, err := b.Info(t.Context()); err != nil || cmp.Diff(want, whole.PaymentList.As) != "" {
			t.Errorf("got %+v, %v from the database", whole.PaymentList, err)
		}
		var got []string
		for _, l := range listed(t, b, Payment) {
			got = append(got,
				strings.Join([]string{l.ID, l.Order, l.State, l.Amount.String(), l.At.UTC().Format(time.DateTime), l.Until.UTC().Format(time.DateTime)}, " "))
		}
		if diff := cmp.Diff([]string{
			"t-1 A-1 approved 1000 2026-10-31 17:37:59 2026-10-31 17:37:59",
			"t-2 A-1 approved 100 2026-10-25 00:30:00 2026-10-25 01:30:00",
			"t-3 A-2 declined 7 2026-10-30 23:00:00 2026-10-31 22:59:59",
			"t-4 A-3 approved 7 0001-01-01 00:00:00 0001-01-01 00:00:00",
		}, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
		var totals []string
		for _, l := range collect(t, b.OrderLines(t.Context(), time.Time{})) {
			totals = append(totals, l.Line.ID+" "+l.Total.Decimal.String())
		}
		if diff := cmp.Diff([]string{"t-1 1100", "t-2 1100"}, totals); diff != "" {
			t.Errorf("totals (-want +got):\n%s", diff)
		}
		unread := collect(t, b.Unreadables(t.Context(), Payment))
		for i, want := range []string{"A-4 state is not a state; say what your word means with --states",
			"A-5 amount is negative; if it is a refund, export it to a list of refunds: --refund-list",
			"A-6 order_total is negative"} {
			if len(unread) != 3 || !strings.HasPrefix(unread[i].Order+" "+unread[i].Column+" "+unread[i].Why, want) {
				t.Errorf("got %+v, want %s", unread, want)
			}
		}
	})
}
