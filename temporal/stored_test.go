package temporal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/cardgateway/cardgateway-go/journal"
)

// searchStored fails the test if the server has stored one of the texts, or the verification code. The texts are long, and are
// searched in its files as they are and in base64, and in the histories as it exports them. Four digits occur by chance: the
// code is searched in every value that its database and the histories contain.
func searchStored(t *testing.T, s *server, ids []journal.ID, code string, texts ...string) {
	t.Helper()
	stored, values, found := map[string][]byte{}, 0, 0
	searchCode := func(where string, data []byte) {
		eachText(data, func(text string) {
			if values++; hasCode(text, code) {
				if found++; found <= 5 {
					t.Errorf("%s contains the verification code in %q", where, text)
				}
			}
		})
	}
	for _, id := range ids {
		events := s.GetWorkflowHistory(t.Context(), s.engine().WorkflowID(id), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			must(t, err)
			text, err := protojson.Marshal(event)
			must(t, err)
			stored["history"] = append(stored["history"], text...)
			data, err := proto.Marshal(event)
			must(t, err)
			searchCode("a history", data)
		}
	}
	s.Client.Close()
	kill(s.dev) // the rest is in the write-ahead log
	files, err := filepath.Glob(s.File + "*")
	must(t, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		must(t, err)
		stored[filepath.Base(name)] = data
	}
	total := 0
	for name, data := range stored {
		total += len(data)
		for i, text := range texts {
			for _, form := range forms(text) {
				if bytes.Contains(data, []byte(form)) {
					t.Errorf("%s contains text %d", name, i)
				}
			}
		}
	}
	if !bytes.Contains(stored["history"], []byte(base64.StdEncoding.EncodeToString([]byte(`{"Text":"` + ids[0].Text))[:8])) {
		t.Error("the history is not read: it does not contain an id")
	}
	withID := 0
	eachColumn(t, s.File, func(table string, data []byte) {
		searchCode("table "+table, data)
		if bytes.Contains(data, []byte(ids[0].Text)) {
			withID++
		}
	})
	if withID == 0 {
		t.Error("the database is not read: it does not contain an id")
	}
	t.Logf("searched %d bytes in %d files and %d histories, and %d values", total, len(files), len(ids), values)
}

// eachColumn calls do with every text and blob in a SQLite database.
func eachColumn(t *testing.T, file string, do func(table string, data []byte)) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	must(t, err)
	defer func() { _ = db.Close() }()
	var tables []string
	read(t, db, `SELECT name FROM sqlite_schema WHERE type = 'table'`, func(row []any) { tables = append(tables, fmt.Sprint(row[0])) })
	for _, table := range tables {
		read(t, db, `SELECT * FROM "`+table+`"`, func(row []any) {
			for _, value := range row {
				switch value := value.(type) {
				case string:
					do(table, []byte(value))
				case []byte:
					do(table, value)
				}
			}
		})
	}
}

func read(t *testing.T, db *sql.DB, statement string, do func(row []any)) {
	t.Helper()
	rows, err := db.QueryContext(context.WithoutCancel(t.Context()), statement)
	must(t, err)
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	must(t, err)
	row, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		targets[i] = &row[i]
	}
	for rows.Next() {
		must(t, rows.Scan(targets...))
		do(row)
	}
	must(t, rows.Err())
}

// eachText calls do with every text in the data: the data itself, if it is text, and those of the protobuf message, the JSON or
// the base64 that it may be, at any depth. Some are found twice, and some are no texts.
func eachText(data []byte, do func(text string)) {
	if utf8.Valid(data) {
		do(string(data))
		eachJSON(data, do)
	}
	rest := data
	for len(rest) > 0 {
		_, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			break
		}
		size := protowire.ConsumeFieldValue(1, kind, rest[n:])
		if size < 0 {
			break
		}
		if value, length := protowire.ConsumeBytes(rest[n:]); kind == protowire.BytesType && length > 0 {
			eachText(value, do)
		}
		rest = rest[n+size:]
	}
	if len(rest) > 0 && !utf8.Valid(data) {
		do(string(rest))
	}
}

// eachJSON does the same for the names and values of JSON.
func eachJSON(data []byte, do func(text string)) {
	var value any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return
	}
	var each func(any)
	each = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				do(name)
				each(member)
			}
		case []any:
			for _, element := range value {
				each(element)
			}
		case json.Number:
			do(value.String())
		case string:
			do(value)
			if decoded, err := base64.StdEncoding.DecodeString(value); err == nil && len(decoded) >= 3 {
				eachText(decoded, do)
			}
		}
	}
	each(value)
}

// noSecret is what may contain any digits: a random id, a hash, the fraction of a second.
var noSecret = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,}|[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+`)

var digits = regexp.MustCompile(`[0-9]+`)

// hasCode reports whether digits that are not part of longer ones are the code.
func hasCode(text, code string) bool {
	return strings.Contains(text, code) && slices.Contains(digits.FindAllString(noSecret.ReplaceAllString(text, " "), -1), code)
}

// TestStoredCode: a verification code is found wherever it may be stored, and nothing else is taken for one.
func TestStoredCode(t *testing.T) {
	field := func(text string) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), []byte(text))
	}
	base := base64.StdEncoding.EncodeToString
	for _, test := range []struct {
		name string
		data []byte
		want bool
	}{
		{"a payload", field(`{"card":{"cvv":"0417"}}`), true},
		{"a list", field(`["x","0417"]`), true},
		{"an error", field("the code 0417 is wrong"), true},
		{"a message in a message", field(string(field("a")) + string(field(string(field("0417"))))), true},
		{"base64 in JSON", []byte(`{"data":"` + base([]byte(`{"cvv":"0417"}`)) + `"}`), true},
		{"a length before it that is a digit", field("0417" + strings.Repeat(" ", 44)), true}, // 48 is "0"
		{"bytes that are no text", append([]byte{0xff, 0xfe}, field("0417")...), true},
		{"a longer number", field("10417"), false},
		{"a port", field("127.0.0.1:40417"), false},
		{"a random id", field("5c9d0e4a-0417-4ab1-9c55-0d7f5b0e0417"), false},
		{"the fraction of a second", field("2026-11-23T20:01:02.0417Z"), false},
		{"a hash", field("a0417b99e0c1d2f3a4b5c6d7"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := false
			eachText(test.data, func(text string) { found = found || hasCode(text, "0417") })
			if found != test.want {
				t.Errorf("got %v, want %v", found, test.want)
			}
		})
	}
}

// forms returns a text as it may be stored: also in base64, at each of the three offsets.
func forms(text string) (all []string) {
	all = []string{text}
	for offset := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte("xxx"[:offset] + text))
		all = append(all, encoded[4*((offset+2)/3):len(encoded)-4])
	}
	return all
}

// TestForms: a text is found in base64, wherever it begins.
func TestForms(t *testing.T) {
	for offset := range 5 {
		stored := base64.StdEncoding.EncodeToString([]byte("{\"abcd"[:offset] + "tokSECRET" + "\"}"))
		found := slices.ContainsFunc(forms("tokSECRET"), func(form string) bool { return strings.Contains(stored, form) })
		if !found {
			t.Errorf("offset %d: %s is not found with %q", offset, stored, forms("tokSECRET"))
		}
	}
}
