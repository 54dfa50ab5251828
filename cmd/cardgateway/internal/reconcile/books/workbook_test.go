package books

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
)

// workbookOf returns an .xlsx file whose sheets have rows of XML, below other parts of a workbook.
func workbookOf(t testing.TB, other map[string]string, sheets ...string) string {
	t.Helper()
	parts := map[string]string{
		"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\ hh:mm"/><numFmt numFmtId="165" formatCode="[Red]0.00&quot; Euros&quot;"/></numFmts>` +
			`<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/><xf numFmtId="165"/><xf numFmtId="21"/></cellXfs></styleSheet>`,
		"xl/sharedStrings.xml": `<sst><si><t>t-1</t></si><si><r><t>t</t></r><r><t>-2</t></r><rPh><t>x</t></rPh></si></sst>`,
	}
	book, relations := "", ""
	for i, sheet := range sheets {
		id := string(rune('a' + i))
		book += `<sheet name="Sheet ` + id + `" sheetId="1" r:id="` + id + `"/>`
		relations += `<Relationship Id="` + id + `" Target="worksheets/` + id + `.xml"/>`
		parts["xl/worksheets/"+id+".xml"] = `<worksheet><sheetData>` + sheet + `</sheetData></worksheet>`
	}
	parts["xl/workbook.xml"] = `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>` + book + `</sheets></workbook>`
	parts["xl/_rels/workbook.xml.rels"] = `<Relationships>` + relations + `</Relationships>`
	for name, text := range other {
		parts[name] = text
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range parts {
		part, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = part.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	succeeds(t, w.Close())
	return out.String()
}

const workbookTitles = `<row r="3"><c r="A3" t="inlineStr"><is><t>transaction_id</t></is></c><c r="B3" t="str"><v>amount</v></c><c r="D3" t="str"><v>currency</v></c>` +
	`<c r="E3" t="str"><v>Date</v></c><c r="F3" t="str"><v>Time</v></c></row>`

// TestWorkbook reads texts, numbers and dates as they are stored, from the one sheet that is a list.
func TestWorkbook(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "books.db"))
	const preamble = `<row r="1"><c r="A1" t="str"><v>October</v></c></row>`
	text := workbookOf(t, nil, `<row r="1"><c r="A1" t="str"><v>notes</v></c></row>`, preamble+workbookTitles+
		`<row r="4"><c r="A4" t="s"><v>0</v></c><c r="B4" s="3"><v>1.1340000000000001</v></c><c r="D4" t="str"><v>KWD</v></c><c r="E4" s="1"><v>46297.375</v></c></row>`+
		`<row r="5"/><row r="6"><c r="A6" t="s"><v>1</v></c><c r="B6"><f>A1</f><v>1.2E3</v></c><c r="D6" t="str"><v>EUR</v></c><c r="E6" s="2"><v>46297</v></c><c r="F6" s="4"><v>0.5</v></c></row>`+
		`<row r="7"><c r="A7"><v>1234567890123456</v></c><c r="B7"><v>1</v></c><c r="D7" t="str"><v>EUR</v></c></row>`+
		`<row r="8"><c r="A8" t="str"><v>t-5</v></c><c r="B8"><f>A1</f></c><c r="D8" t="str"><v>EUR</v></c></row>`+
		`<row r="9"><c r="A9" t="str"><v>t-6</v></c><c r="B9" t="str"><v>1.500</v></c><c r="D9" t="str"><v>EUR</v></c></row>`+
		`<row r="10"><c r="A10" t="str"><v>t-7</v></c><c r="B10"><v>1</v></c><c r="D10" t="str"><v>EUR</v></c><c r="E10"><f>A1</f><v/></c></row>`+
		`<row r="11"><c r="A11" t="str"><v>t-8</v></c><c r="B11" t="b"><v>1</v></c><c r="D11" t="str"><v>EUR</v></c></row>`)
	info, err := importOne(t.Context(), b, Payment, csvList(t, text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range listed(t, b, Payment) {
		got = append(got, strings.Join([]string{l.ID, l.Amount.String(), l.Currency, l.At.Format(time.DateTime)}, " "))
	}
	for _, u := range collect(t, b.Unreadables(t.Context(), Payment)) {
		why, _, _ := strings.Cut(u.Why, ",")
		got = append(got, u.Column+" "+why)
	}
	if diff := cmp.Diff([]string{"t-1 1.134 KWD 2026-10-02 09:00:00", "t-2 1200 EUR 2026-10-02 12:00:00",
		"transaction_id was shortened by a spreadsheet", "amount is an error of a spreadsheet", "amount can mean thousands", "at is an error of a spreadsheet",
		"amount is not an amount such as 1234.50; say how your list writes that with --amounts"}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if title := info.As.Columns[3].Title; title != "Date+Time" {
		t.Errorf("at is from %s", title)
	}
}

// TestWorkbookRefused: what is damaged, or could be something else, is never a shorter list.
func TestWorkbookRefused(t *testing.T) {
	const row = `<row r="4"><c r="A4" t="str"><v>t</v></c><c r="B4"><v>1</v></c><c r="D4" t="str"><v>EUR</v></c></row>`
	for _, test := range []struct{ name, text, want string }{
		{"two lists", workbookOf(t, nil, workbookTitles+row, workbookTitles+row), `two sheets that can be the list, "Sheet a" and "Sheet b"`},
		{"no list", workbookOf(t, nil, row), "has no column transaction_id"},
		{"no cells", workbookOf(t, nil, ""), "is empty"},
		{"a sheet that is cut off", workbookOf(t, map[string]string{"xl/worksheets/a.xml": `<worksheet><sheetData>` + workbookTitles + row}, ""), "damaged"},
		{"a text that is not there", workbookOf(t, nil, workbookTitles+`<row r="4"><c r="A4" t="s"><v>7</v></c></row>`), "not there"},
		{"merged cells", workbookOf(t, map[string]string{"xl/worksheets/a.xml": `<worksheet><sheetData>` + workbookTitles + row + `</sheetData><mergeCells>` +
			`<mergeCell ref="A1:F2"/><mergeCell ref="A4:B4"/><mergeCell ref="D4:D5"/></mergeCells></worksheet>`}, ""), "has merged cells in several rows"},
		{"rows in no order", workbookOf(t, nil, workbookTitles+row+row), "its rows are in no order"},
		{"a cell twice", workbookOf(t, nil, workbookTitles+strings.Replace(row, "</row>", `<c r="D4" t="str"><v>USD</v></c></row>`, 1)), "its cells are in no order"},
		{"another byte in the styles", strings.Replace(workbookOf(t, nil, workbookTitles+row), `<xf numFmtId="14"/>`, `<xf numFmtId="10"/>`, 1), "checksum"},
		{"another byte in the sheet", strings.Replace(workbookOf(t, nil, workbookTitles+row), `<c r="B4"><v>1<`, `<c r="B4"><v>7<`, 1), "checksum"},
		{"a row without end", workbookOf(t, nil, workbookTitles+`<row r="4">`+strings.Repeat("<c/>", maxLineBytes)+"</row>"), errTooLarge.Error()},
		{"a text without end", workbookOf(t, map[string]string{"xl/sharedStrings.xml": "<sst><si><t>" + strings.Repeat("x", maxPartBytes+9000) + "</t></si></sst>"}, row), errTooLarge.Error()},
		{"dates from 1904", workbookOf(t, map[string]string{"xl/workbook.xml": `<workbook><workbookPr date1904="1"/></workbook>`}), "1904"},
		{"another archive", workbookOf(t, map[string]string{"xl/workbook.xml": "x"})[:200], "damaged workbook"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := open(t, filepath.Join(t.TempDir(), "books.db"))
			if info, err := importOne(t.Context(), b, Payment, csvList(t, test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %+v, %v, want in it %q", info, err, test.want)
			}
		})
	}
}

// FuzzWorkbook: whatever a sheet holds, reading it ends, and its rows are in order.
func FuzzWorkbook(f *testing.F) {
	f.Add(`<row r="4"><c r="A4" t="s"><v>0</v></c><c r="B4" s="1"><v>1.5</v></c></row>`)
	f.Add(`<row><c><v>1e999</v></c><c t="e"/></row><row r="x">`)
	f.Fuzz(func(t *testing.T, rows string) {
		s := csvList(t, workbookOf(t, nil, workbookTitles+rows))
		s.Kind, s.Zone = Payment, timeUTC
		l, err := s.open(t.Context(), false)
		if err != nil {
			return
		}
		defer func() { _ = l.source.close() }()
		for last := 0; ; {
			line, cells, err := l.source.next()
			if err != nil {
				return
			}
			if line <= last || len(cells) > maxColumns {
				t.Fatalf("got row %d after %d, with %d cells", line, last, len(cells))
			}
			last = line
			if row, bad := l.read(line, cells, l.source.isNumber); row != nil && bad != nil {
				t.Fatalf("got %v and %v", row, bad)
			}
		}
	})
}

// TestCompressed reads a list that is compressed, and says if it is cut off.
func TestCompressed(t *testing.T) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte("transaction_id,amount,currency\nt-1,1,EUR\n")); err != nil {
		t.Fatal(err)
	}
	succeeds(t, w.Close())
	b := open(t, filepath.Join(t.TempDir(), "books.db"))
	if info, err := importOne(t.Context(), b, Payment, csvList(t, out.String())); err != nil || info.Rows != 1 {
		t.Errorf("got %+v, %v", info, err)
	}
	if info, err := importOne(t.Context(), b, Payment, csvList(t, out.String()[:out.Len()-9])); err == nil ||
		!strings.HasSuffix(err.Error(), "the list list.csv cannot be read to its end: unexpected EOF") {
		t.Errorf("got %+v, %v of a file that is cut off", info, err)
	}
}

// TestGatewayIDs: a line with the gateway's id alone is that of its payment or refund, also if the copy gets it later.
func TestGatewayIDs(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		insert := func(table *table, row record) {
			t.Helper()
			save(t, b, table, 0, time.Now(), row)
			change(t, b, func(tx *sql.Tx) error { return nameLines(t.Context(), tx) })
		}
		pay := func(id, unique string) {
			insert(&ordersTable, orderRecord(&cardgateway.Transaction{TransactionID: id, UniqueID: unique}, "", timeUTC, 1))
		}
		giveBack := func(id, unique string) {
			insert(&refundsTable, refundRecord(&cardgateway.Refund{MerchantRefundID: id, RefundUniqueID: unique}, timeUTC, 1))
		}
		ids := func(kind Kind) (all string) {
			for _, l := range listed(t, b, kind) {
				all += l.ID + " "
			}
			return all
		}
		pay("t-1", "901")
		giveBack("r-1", "801")
		giveBack("801", "810") // the merchant's id is another refund's id of the gateway
		for kind, list := range map[Kind]string{
			Payment: "transactionId,uniqueId,amount,currency\n,901,1,EUR\n,902,2,EUR\nt-3,901,3,EUR\n",
			Refund:  "refundId,refundUniqueId,amount,currency\n,801,1,EUR\n,802,2,EUR\nr-3,801,3,EUR\n,803,4,EUR\n",
		} {
			mustImport(t, b, kind, csvList(t, list))
		}
		if got := ids(Payment) + ids(Refund); got != "902 t-1 t-3 802 803 r-1 r-3 " {
			t.Errorf("got %s", got)
		}
		pay("t-2", "902")
		giveBack("", "802") // which has no other id
		giveBack("r-4", "803")
		if got := ids(Payment) + ids(Refund); got != "t-1 t-2 t-3 802 r-1 r-3 r-4 " {
			t.Errorf("later: got %s", got)
		}
	})
}
