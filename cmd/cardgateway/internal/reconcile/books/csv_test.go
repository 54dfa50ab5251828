package books

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"
)

// readAll reads a list to its end.
func readAll(text string) (lines map[int][]string, bad map[int]string, err error) {
	lines, bad = map[int][]string{}, map[int]string{}
	r, err := newCSV(strings.NewReader(text), func(titles []string) error {
		if len(titles) < 2 {
			return &Refused{Why: "has one column"}
		}
		return nil
	})
	if err != nil {
		return lines, bad, err
	}
	for {
		line, cells, err := r.next()
		if errors.Is(err, io.EOF) {
			return lines, bad, nil
		}
		if wrong, ok := errors.AsType[*badLine](err); ok {
			bad[wrong.line] = wrong.why
			continue
		}
		if err != nil {
			return lines, bad, err
		}
		lines[line] = cells
	}
}

func TestCSV(t *testing.T) {
	const unclosed = "has a quotation mark that is not closed"
	const middle = "has a quotation mark in the middle of a cell; double it, and put the cell in quotation marks"
	for _, test := range []struct {
		name  string
		text  string
		lines map[int][]string
		bad   map[int]string
	}{
		{"comma", "a,b\n1,2\n3,4", map[int][]string{2: {"1", "2"}, 3: {"3", "4"}}, nil},
		{"semicolon", "a;b\r\n1;2,5\r\n", map[int][]string{2: {"1", "2,5"}}, nil},
		{"tab", "a\tb\n1\t2\n", map[int][]string{2: {"1", "2"}}, nil},
		{"bar", "a|b\n1|2\n", map[int][]string{2: {"1", "2"}}, nil},
		{"mark of UTF-8", "\xef\xbb\xbfa,b\n1,2\n", map[int][]string{2: {"1", "2"}}, nil},
		{"quoted titles", "\"a\",\"b;b;b\"\n1,2\n", map[int][]string{2: {"1", "2"}}, nil},
		{"empty lines", "\n\na,b\n\n1,2\n\n", map[int][]string{5: {"1", "2"}}, nil},
		{"rows without any cell", "a;b;c\n;;\n1;2;3\n;;;\n; ;\n", map[int][]string{3: {"1", "2", "3"}}, nil},
		{"separator before the titles", "sep=;\r\na;b\r\n1;2,5\r\n", map[int][]string{3: {"1", "2,5"}}, nil},
		{"separator after a mark of UTF-8", "\xef\xbb\xbfSEP=\t\na\tb\n1\t2\n", map[int][]string{3: {"1", "2"}}, nil},
		{"separator in quotation marks", "a,b\n\"1,5\",2\n", map[int][]string{2: {"1,5", "2"}}, nil},
		{"doubled quotation marks", "a,b\n\"say \"\"no\"\"\",2\n", map[int][]string{2: {`say "no"`, "2"}}, nil},
		{"line break in quotation marks", "a,b\n\"1\n5\",2\n3,4\n", map[int][]string{2: {"1\n5", "2"}, 4: {"3", "4"}}, nil},
		{"quotation mark that is not closed", "a,b\n\"1,2\n3,4\n5,6\n", map[int][]string{3: {"3", "4"}, 4: {"5", "6"}}, map[int]string{2: unclosed}},
		{"two of them", "a,b\n\"1,2\n3,4\nx\"y,6\n7,8\n", map[int][]string{3: {"3", "4"}, 5: {"7", "8"}}, map[int]string{2: unclosed, 4: unclosed}},
		{"quotation mark that another row closes", "a,b,c\n1,2,\"3\n4,5,6\"\n7,8,9\n", map[int][]string{4: {"7", "8", "9"}}, map[int]string{2: unclosed, 3: unclosed}},
		{"cell with line breaks and separators", "a,b,c\n1,2,\"3,\n4, 5\n\"\n7,8,9\n", map[int][]string{2: {"1", "2", "3,\n4, 5\n"}, 5: {"7", "8", "9"}}, nil},
		{"blanks before quotation marks", "a, b\n1, \"2,3\"\n", map[int][]string{2: {"1", "2,3"}}, nil},
		{"quotation mark in a cell", "a,b\n5\" disc,2\n3,4\n", map[int][]string{3: {"3", "4"}}, map[int]string{2: unclosed}},
		{"quotation marks in a cell", "a,b\nthe \"x\",2\n3,4\n", map[int][]string{3: {"3", "4"}}, map[int]string{2: middle}},
		{"a text for a spreadsheet", "a;b\n=\"01\";2\n3;=\"4\"\n", map[int][]string{2: {"01", "2"}, 3: {"3", "4"}}, nil},
		{"cells that a spreadsheet left out", "a;b;c\n1;2\n", map[int][]string{2: {"1", "2"}}, nil},
		{"a file that is cut off", "a;b;c\n1;2;3\n4;5", map[int][]string{2: {"1", "2", "3"}},
			map[int]string{3: "is cut off: it has fewer cells than there are titles, and no line break"}},
		{"a long line", "a,b\n" + strings.Repeat("x", maxLineBytes) + ",1\n3,4\n", map[int][]string{3: {"3", "4"}}, map[int]string{2: "is longer than 1 MiB"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, bad, err := readAll(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.lines, lines); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if len(test.bad)+len(bad) > 0 {
				if diff := cmp.Diff(test.bad, bad); diff != "" {
					t.Errorf("bad lines (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestCSVRefused(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "is empty"},
		{"only a separator", "sep=;\n", "is empty"},
		{"carriage returns only", "a,b\r1,2\r", "carriage return"},
		{"only empty lines", "\n \n", "is empty"},
		{"UTF-16 without a mark", "a\x00,\x00b\x00", "is not a text"},
		{"a workbook", "PK\x03\x04rest", "workbook"},
		{"an old workbook", "\xd0\xcf\x11\xe0", "Excel 97"}, {"JSON", " [\n {", "is JSON"}, {"CAMT", "<?xml version", "CAMT"}, {"HTML", "<table>", "is HTML"},
		{"PDF", "%PDF-1.7", "is a PDF"}, {"MT940", "{1:F01", "MT940"}, {"SQLite", "SQLite format 3\x00", "--list-dsn"}, {"bytes", "a\x00b", "is not a text"},
		{"MHTML", "MIME-Version: 1.0\n", "is a web page"},
		{"one column", "a b\n", "has one column"},
		{"a first line without end", strings.Repeat("x,", maxLineBytes), "line 1 is longer"},
		{"too many columns", strings.Repeat("x,", maxColumns+1), "more than 1000 columns"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := readAll(test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want in it %q", err, test.want)
			}
		})
	}
}

// TestEncodings: a list in UTF-16 or Windows-1252 has its letters, and what is in no encoding is unreadable, never another id.
func TestEncodings(t *testing.T) {
	const titles, umlaut = "transaction_id;amount;currency;K\u00e4ufer\n", "t-\u00fc;1,50 \u20ac;EUR;M\u00fcller\n"
	plain := strings.ReplaceAll(titles, "K\u00e4ufer", "note")
	in := func(e encoding.Encoding, text string) string {
		text, err := e.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	little, big := utf16.UTF16(utf16.LittleEndian, utf16.UseBOM), utf16.UTF16(utf16.BigEndian, utf16.UseBOM)
	for _, test := range []struct{ name, text, order, encoding, want string }{
		{"UTF-8", titles + umlaut, "K\u00e4ufer", "", "t-\u00fc 1.5 M\u00fcller "},
		{"UTF-8, a line of another encoding", titles + umlaut + "t-\xfc;2;EUR;\n", "", "", "t-\u00fc 1.5  line 3 transaction_id"},
		{"UTF-8, another column of another encoding", titles + "t-1;2;EUR;M\xfcller\n", "", "", "t-1 2  "},
		{"UTF-16, little end first", in(little, titles+umlaut), "K\u00e4ufer", "UTF-16", "t-\u00fc 1.5 M\u00fcller "},
		{"UTF-16, big end first", in(big, titles+umlaut), "K\u00e4ufer", "UTF-16", "t-\u00fc 1.5 M\u00fcller "},
		{"UTF-16, cut off in a letter", in(little, titles+"t-1;2;EUR;\nt-2;3;EUR;") + "\x00", "K\u00e4ufer", "UTF-16", "t-1 2  line 3 order"},
		{"Windows-1252", in(charmap.Windows1252, titles+umlaut), "K\u00e4ufer", "Windows-1252", "t-\u00fc 1.5 M\u00fcller "},
		{"Windows-1252, first far below", plain + "t-1;2;EUR;\n" + in(charmap.Windows1252, umlaut), "", "Windows-1252", "t-1 2  t-\u00fc 1.5  "},
		{"a byte that Windows-1252 does not have", plain + "t-\x81;2;EUR;\nt-1;1;EUR;\n", "", "Windows-1252", "t-1 1  line 2 transaction_id"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := open(t, filepath.Join(t.TempDir(), "books.db"))
			s := csvList(t, test.text)
			s.Columns, s.Amounts = map[string]string{"order": test.order}, "1.234,50"
			info, err := importOne(t.Context(), b, Payment, s)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, l := range listed(t, b, Payment) {
				got += l.ID + " " + l.Amount.String() + " " + l.Order + " "
			}
			for _, u := range collect(t, b.Unreadables(t.Context(), Payment)) {
				got += fmt.Sprintf("line %d %s", u.Line, u.Column)
			}
			if got != test.want || info.As.Encoding != test.encoding {
				t.Errorf("got %q as %q, want %q as %q", got, info.As.Encoding, test.want, test.encoding)
			}
		})
	}
}

// FuzzCSV: whatever a file holds, reading it ends, numbers lines in order, and gives each one once.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "a;b\n\"1;2\n3;4\n", "\xef\xbb\xbfa|b\r\n\"x\"\"y\"|2", "a\tb\n\"\n\n\"\t1\nx\"y\tz\n", "a,b\n\xff,\x00\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		source := ListSource{Kind: Payment, Currency: "EUR", Zone: timeUTC, Columns: map[string]string{"transaction_id": "a", "amount": "b"}}
		reader := newLineReader(source)
		r, err := newCSV(strings.NewReader(text), reader.chooseColumns)
		if err != nil {
			return
		}
		last := 0
		for range len(text) + 1 {
			line, cells, err := r.next()
			if errors.Is(err, io.EOF) {
				return
			}
			bad, isBad := errors.AsType[*badLine](err)
			if err != nil && !isBad {
				t.Fatal(err)
			}
			if isBad {
				line = bad.line
			} else if row, unreadable := reader.read(line, cells, r.isNumber); row != nil && unreadable != nil {
				t.Fatalf("line %d: got row %v and unreadable %v", line, row, unreadable)
			} else if row != nil && (row.ID == "" || strings.ContainsRune(row.ID, 0)) {
				t.Fatalf("got the id %q", row.ID)
			}
			if line <= last || line > strings.Count(text, "\n")+1 {
				t.Fatalf("got line %d after %d", line, last)
			}
			last = line
		}
		t.Fatal("reading does not end")
	})
}
