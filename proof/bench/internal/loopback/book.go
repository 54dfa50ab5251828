package loopback

import (
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"time"
)

// The book of orders: every month has the same number, evenly spaced.
const (
	MaxMonths    = 60
	RowsPerMonth = 2000
	maxPageSize  = 999
)

// Month returns the start of the n-th month of the book, counted from 0, on the gateway's wall clock.
func Month(n int) time.Time { return time.Date(2020, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC) }

// book has orders in order of time, each as JSON.
type book struct {
	at   []int64 // seconds
	rows []byte  // with a comma after each row
	ends []int   // of each row in rows, its comma included
}

func newBook(months int) *book {
	b := &book{rows: make([]byte, 0, months*RowsPerMonth*700)}
	for m := range months {
		start, next := Month(m).Unix(), Month(m+1).Unix()
		for i := range int64(RowsPerMonth) {
			at := start + (next-start)*i/RowsPerMonth
			b.at = append(b.at, at)
			b.rows = append(appendRow(b.rows, len(b.at), time.Unix(at, 0).UTC()), ',')
			b.ends = append(b.ends, len(b.rows))
		}
	}
	return b
}

// appendRow appends an order as in the interface's order query, with every member.
func appendRow(buf []byte, n int, at time.Time) []byte {
	buf = append(buf, `{"code":100,"message":"successful transaction","isTest":true,"appId":`+AppID+`,"uniqueId":"20098235303`...)
	buf = strconv.AppendInt(buf, int64(10_000_000+n), 10)
	buf = append(buf, `","transactionId":"shop-2026-order-`...)
	buf = strconv.AppendInt(buf, int64(n), 10)
	buf = append(buf, `","billDescription":"shop.example","timestamp":`...)
	buf = strconv.AppendInt(buf, at.UnixMilli(), 10)
	buf = append(buf, `,"transactionAmount":"`...)
	buf = strconv.AppendInt(buf, int64(1+n%4000), 10)
	buf = append(buf, '.', byte('0'+n%10), byte('0'+n/10%10))
	buf = append(buf, `","transactionCurrency":"`+Currency+`","transactionAt":"`...)
	buf = at.AppendFormat(buf, time.DateTime)
	return append(buf, `","transactionCardNumber":"430000******0000","transactionMessage":"Approved",`+
		`"transactionMethod":"CreditCard","is3d":"false","transactionType":"Tokenization","billingAddress":`+address+`}`...)
}

// search serves a batch order query.
func (b *book) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	first, past, err := b.between(q)
	page, size := number(q, "currPage", 1), number(q, "pageSize", 10)
	if err != nil || page < 1 || size < 1 || size > maxPageSize {
		http.Error(w, `{"code":500,"message":"request parameter error"}`, http.StatusBadRequest)
		return
	}
	total := past - first
	from := min(first+(page-1)*size, past)
	body := appendPage(nil, page, size, total, b.slice(from, min(from+size, past)))
	w.Header()["Content-Type"] = jsonContent
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// between returns the rows of a query's range, including both bounds.
func (b *book) between(q url.Values) (first, past int, err error) {
	start, err := time.Parse(time.DateTime, q.Get("startDate"))
	if err != nil {
		return 0, 0, err
	}
	end, err := time.Parse(time.DateTime, q.Get("endingDate"))
	if err != nil {
		return 0, 0, err
	}
	first = sort.Search(len(b.at), func(i int) bool { return b.at[i] >= start.Unix() })
	past = sort.Search(len(b.at), func(i int) bool { return b.at[i] > end.Unix() })
	return first, past, nil
}

// slice returns the rows from and up to, but not including, past, with commas between them.
func (b *book) slice(from, past int) []byte {
	if from >= past {
		return nil
	}
	start := 0
	if from > 0 {
		start = b.ends[from-1]
	}
	return b.rows[start : b.ends[past-1]-1]
}

func appendPage(buf []byte, page, size, total int, rows []byte) []byte {
	buf = append(buf, `{"code":121,"message":"Search success","timestamp":1768359845000,"currPage":`...)
	buf = strconv.AppendInt(buf, int64(page), 10)
	buf = append(buf, `,"pageSize":`...)
	buf = strconv.AppendInt(buf, int64(size), 10)
	buf = append(buf, `,"totalCount":`...)
	buf = strconv.AppendInt(buf, int64(total), 10)
	buf = append(buf, `,"totalPage":`...)
	buf = strconv.AppendInt(buf, int64((total+size-1)/size), 10)
	buf = append(append(buf, `,"data":[`...), rows...)
	return append(buf, ']', '}')
}

// number reads a parameter; it returns -1 if that is not a number.
func number(q url.Values, name string, missing int) int {
	text := q.Get(name)
	if text == "" {
		return missing
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// Page returns a response with the first n rows of the book.
func Page(n int) []byte {
	b := newBook(1 + n/RowsPerMonth)
	return appendPage(nil, 1, n, n, b.slice(0, n))
}
