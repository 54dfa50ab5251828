package envelope_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/internal/envelope"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

const most = 5 // rows of a page in these tests

// read reads a page whose rows are numbers; zero is an unusable row.
func read(text string) (*envelope.Page, []int, error) {
	r := wire.NewReader([]byte(text))
	defer r.Release()
	page, rows := envelope.Read(r, most, func(_ int, dst *int) bool {
		ok, _ := r.Count(dst)
		return ok && *dst != 0
	})
	return page, rows, r.Finish()
}

func TestRead(t *testing.T) {
	whole := envelope.Page{
		Code: 121, Message: "ok", Timestamp: time.UnixMilli(1).UTC(), CurrPage: 1, PageSize: 5, TotalCount: 3, TotalPage: 1, SaysRows: true,
	}
	for _, tt := range []struct {
		name, text string
		page       envelope.Page
		rows       []int
	}{
		{"whole", `{"code":121,"message":"ok","timestamp":1,"currPage":1,"pageSize":5,"totalCount":3,"totalPage":1,"data":[7,8,9],"x":[]}`,
			whole, []int{7, 8, 9}},
		{"as text", `{"code":"121","message":"ok","timestamp":"1","currPage":"1","pageSize":"5","totalCount":"3","totalPage":"1","data":[]}`,
			whole, []int{}},
		{"a row that cannot be used", `{"data":[0,7,"x",8]}`, envelope.Page{SaysRows: true}, []int{7, 8}},
		{"nothing", `{}`, envelope.Page{}, nil},
		{"no data", `{"code":121,"data":null}`, envelope.Page{Code: 121}, nil},
		{"a count alone", `{"totalCount":2}`, envelope.Page{TotalCount: 2, SaysRows: true}, nil},
		{"no page", `{"totalPage":0}`, envelope.Page{SaysRows: true}, nil},
		{"pages of any number", `{"totalPage":3}`, envelope.Page{TotalPage: 3}, nil},
		{"an empty count", `{"totalCount":"","totalPage":null}`, envelope.Page{}, nil},
		{"refused", `{"code":122,"message":"failed","transactionMessage":"no such day"}`,
			envelope.Page{Code: 122, Message: "failed", Reason: "no such day"}, nil},
		{"a reason of another form", `{"transactionMessage":{}}`, envelope.Page{}, nil},
		{"a time of another form", `{"timestamp":"2026-01-01"}`, envelope.Page{}, nil},
		{"a code of another form", `{"code":"12x","pageSize":[]}`, envelope.Page{Unreadable: "code"}, nil},
		{"a message of another form", `{"message":[]}`, envelope.Page{Unreadable: "message"}, nil},
		{"a size of another form", `{"pageSize":-1}`, envelope.Page{Unreadable: "pageSize"}, nil},
		{"data in another spelling", `{"totalCount":0,"data":[],"Data":[1]}`, envelope.Page{SaysRows: true, Unreadable: "Data"}, []int{}},
		{"a count in another spelling", `{"totalCount":0,"totalcount":1}`, envelope.Page{SaysRows: true, Unreadable: "totalcount"}, nil},
		{"more pages than rows", `{"totalPage":3,"data":[]}`, envelope.Page{SaysRows: true, TotalPage: 3, Unreadable: "totalPage"}, []int{}},
		{"a page after the last", `{"currPage":4,"totalPage":3,"data":[]}`, envelope.Page{SaysRows: true, CurrPage: 4, TotalPage: 3}, []int{}},
		{"data of another form", `{"data":{"a":1}}`, envelope.Page{Unreadable: "data"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page, rows, err := read(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.page, page); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.rows, rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadRefused(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"as many rows as are allowed", `{"data":[1,2,3,4,5]}`, ""},
		{"one row more", `{"data":[1,2,3,4,5,6]}`, "has more than 5 rows"},
		{"one more that cannot be used", `{"data":[0,0,0,0,0,0]}`, "has more than 5 rows"},
		{"cut", `{"data":[1,2`, "is not one whole JSON value"},
		{"data twice", `{"data":[1],"data":[2]}`, "repeats a member"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := read(tt.text); err == nil && tt.want != "" || err != nil && err.Error() != tt.want {
				t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
			}
		})
	}
}

// TestAnnouncement: an announced total does not allocate more memory than the length of the page allows, or than the
// maximum of rows.
func TestAnnouncement(t *testing.T) {
	long := strings.Repeat(" ", 10_000)
	for _, tt := range []struct {
		name, text string
		want       int // capacity for rows
	}{
		{"as announced", `{"pageSize":4,"totalCount":3,"data":[` + long + `]}`, 3},
		{"a page of more", `{"pageSize":3,"totalCount":4,"data":[` + long + `]}`, 3},
		{"more than a page has", `{"pageSize":999999999,"totalCount":999999999,"data":[` + long + `]}`, most},
		{"in a short page", `{"pageSize":5,"totalCount":5,"data":[` + long[:250] + `]}`, 2},
		{"nothing", `{"data":[` + long + `]}`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, rows, err := read(tt.text); err != nil || cap(rows) != tt.want || rows == nil {
				t.Errorf("%s: got room for %d rows, %v, want %d", tt.name, cap(rows), err, tt.want)
			}
		})
	}
}

// FuzzRead: a page that can be read can also be read by encoding/json, and has no more rows than encoding/json finds.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"code":121,"message":"ok","timestamp":1,"currPage":1,"pageSize":5,"totalCount":3,"totalPage":1,"data":[7,8,9]}`))
	f.Add([]byte(`{"code":122,"transactionMessage":"no","data":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		page, rows, err := read(string(data))
		if err != nil {
			return
		}
		var oracle map[string]json.RawMessage
		if err := json.Unmarshal(data, &oracle); err != nil && string(data) != "null" {
			t.Fatalf("%q was read, encoding/json says %v", data, err)
		}
		var elements []any
		_ = json.Unmarshal(oracle["data"], &elements)
		if len(rows) > len(elements) || len(rows) > most {
			t.Errorf("%q: got %d rows, encoding/json finds %d", data, len(rows), len(elements))
		}
		if text := strings.Trim(string(oracle["code"]), `"`); page.Code != 0 && text != fmt.Sprint(page.Code) {
			t.Errorf("%q: got the code %d, encoding/json finds %s", data, page.Code, text)
		}
	})
}
