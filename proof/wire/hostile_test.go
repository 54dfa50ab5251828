package wire_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// Responses that are made to be expensive, or to be misread. A real server returns each of them to a payment, a single
// query and a page. Each call must end with the right kind of error, soon and with little memory.

// hostile is one response: its head, if it is not an ordinary one, and its body. In the body, @ stands for the
// transactionId that was sent.
type hostile struct{ name, head, body string }

// rows is a page with these rows.
func rows(row string) string {
	return `{"code":121,"currPage":1,"pageSize":10,"totalCount":1,"totalPage":1,"data":[` + row + `]}`
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// hostileMembers replace members of a good response: each is a response on its own, and a page's only row.
func hostileMembers() (all []hostile) {
	const good = `"code":100,"uniqueId":"1","transactionId":"@","transactionAmount":"12.50","transactionCurrency":"USD"`
	add := func(name, members string) { all = append(all, hostile{name: name, body: "{" + members + "}"}) }
	add("code twice", good+`,"code":101`)
	add("transactionId twice", good+`,"transactionId":"@"`)
	add("code only in capitals", strings.Replace(good, `"code"`, `"CODE"`, 1))
	add("code only with a capital", strings.Replace(good, `"code"`, `"Code"`, 1))
	add("transactionId only with a long s", strings.Replace(good, "transactionId", "tran\u017factionId", 1))
	add("transactionId only with an escaped long s", strings.Replace(good, "transactionId", `tran\u017factionId`, 1))
	add("lone surrogate in the transactionId", strings.Replace(good, `"@"`, `"@\ud800"`, 1))
	add("invalid UTF-8 in the transactionId", strings.Replace(good, `"@"`, "\"@\xff\"", 1))
	add("zero byte in the transactionId", strings.Replace(good, `"@"`, "\"@\x00\"", 1))
	add("code null", strings.Replace(good, "100", "null", 1))
	add("a million digits of code", strings.Replace(good, "100", strings.Repeat("1", 1_000_000), 1))
	add("a million digits of amount", strings.Replace(good, "12.50", strings.Repeat("1", 999_000), 1))
	add("a million digits behind the point", strings.Replace(good, "12.50", "12."+strings.Repeat("5", 999_000), 1))
	add("exponent bomb", strings.Replace(good, `"12.50"`, "1e1000000000", 1))
	add("exponent bomb as text", strings.Replace(good, "12.50", "1e1000000000", 1))
	add("negative exponent bomb", strings.Replace(good, "12.50", "1e-1000000000", 1))
	add("amount is not a number", strings.Replace(good, "12.50", "NaN", 1))
	add("amount in hex", strings.Replace(good, "12.50", "0xc.8", 1))
	add("amount with a separator", strings.Replace(good, "12.50", "1_2.50", 1))
	add("amount in other digits", strings.Replace(good, "12.50", "١٢.٥٠", 1))
	add("a million digits of an unknown number", good+`,"x":`+strings.Repeat("9", 1_000_000))
	add("uniqueId that climbs", strings.Replace(good, `"uniqueId":"1"`, `"uniqueId":"../../checkout/payment"`, 1))
	add("uniqueId of 129 digits", strings.Replace(good, `"uniqueId":"1"`, `"uniqueId":"`+strings.Repeat("1", 129)+`"`, 1))
	add("257 members", good+manyMembers(256))
	add("half a million members", good+manyMembers(40_000))
	add("deep lists", good+`,"x":`+strings.Repeat("[", 500_000)+strings.Repeat("]", 500_000))
	add("deep objects", good+`,"x":`+strings.Repeat(`{"a":`, 10_000)+"1"+strings.Repeat("}", 10_000))
	add("unfinished depth", good+`,"x":`+strings.Repeat("[", 900_000))
	for _, wrong := range []string{"true", "[]", "{}", `[1]`, `{"a":1}`} {
		for _, member := range []string{`100`, `"1"`, `"@"`, `"12.50"`, `"USD"`} {
			add(member+" is "+wrong, strings.Replace(good, ":"+member, ":"+wrong, 1))
		}
	}
	return all
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":%d`, i, i)
	}
	return b.String()
}

// hostileTexts are not what a response should be as a whole.
func hostileTexts() []hostile {
	good := `{"code":100,"uniqueId":"1","transactionId":"@","transactionAmount":"12.50","transactionCurrency":"USD"}`
	unpacked := 64 << 20
	if clienttest.RaceDetector {
		unpacked = 1 << 20 // packing it takes too long
	}
	bomb := gzipped(strings.Repeat("0", unpacked))
	return []hostile{
		{name: "empty"}, {name: "null", body: "null"}, {name: "a number", body: "100"}, {name: "a text", body: `"code"`},
		{name: "a list", body: "[" + good + "]"}, {name: "blank", body: " \n\t"}, {name: "zero bytes", body: strings.Repeat("\x00", 1000)},
		{name: "zero byte behind", body: good + "\x00"}, {name: "two values", body: good + good}, {name: "trailing comma", body: good[:len(good)-1] + ",}"},
		{name: "text behind", body: good + "<html>"}, {name: "byte order mark", body: "\ufeff" + good}, {name: "comment", body: good[:1] + "/**/" + good[1:]},
		{name: "single quotes", body: strings.ReplaceAll(good, `"`, `'`)}, {name: "UTF-16", body: "\xff\xfe{\x00}\x00"},
		{name: "line separator before", body: "\u2028" + good}, {name: "no-break space before", body: "\u00a0" + good},
		{name: "6 MB of {},", body: "[" + strings.Repeat("{},", 2_000_000) + "{}]"},
		{name: "6 MB of {}, as rows", body: rows(strings.Repeat("{},", 2_000_000) + "{}")},
		{name: "6 MB of 0, as rows", body: rows(strings.Repeat("0,", 3_000_000) + "0")},
		{name: "6 MB of {}, in a member", body: `{"code":100,"transactionId":"@","x":[` + strings.Repeat("{},", 2_000_000) + "{}]}"},
		{name: "1000 rows", body: rows(strings.Repeat(good+",", 999) + good)},
		{name: "7 MB of backslashes", body: `{"message":"` + strings.Repeat(`\\`, 3_500_000) + `"}`},
		{name: "7 MB of one name", body: `{"` + strings.Repeat("a", 7_000_000) + `":1}`},
		{name: "9 MB", body: `{"message":"` + strings.Repeat("a", 9<<20) + `"}`},
		{name: "9 MB of blanks", body: strings.Repeat(" ", 9<<20) + good},
		{name: "gzip bomb", head: "Content-Encoding: gzip\r\n", body: bomb},
		{name: "gzip bomb without a word", body: bomb},
		{name: "gzip in gzip", head: "Content-Encoding: gzip, gzip\r\n", body: gzipped(bomb)},
		{name: "deflate", head: "Content-Encoding: deflate\r\n", body: "x"}, {name: "brotli", head: "Content-Encoding: br\r\n", body: "x"},
		{name: "gzip of a good response", head: "Content-Encoding: gzip\r\n", body: gzipped(good)},
		{name: "huge header", head: "X: " + strings.Repeat("x", 1<<20) + "\r\n", body: good},
		{name: "many headers", head: strings.Repeat("X: x\r\n", 100_000), body: good},
		{name: "header without a colon", head: "X\r\n", body: good},
		{name: "two lengths", head: "Content-Length: 1\r\n", body: good}, {name: "length without sense", head: "Content-Length: -1\r\n", body: good},
		{name: "length far too long", head: "Content-Length: 9223372036854775807\r\n", body: good},
	}
}

// bytes is the whole response to the payment of that id.
func (h hostile) bytes(id string) []byte {
	body := strings.ReplaceAll(h.body, "@", id)
	head := "HTTP/1.1 200 OK\r\nConnection: close\r\n" + h.head
	if !strings.Contains(h.head, "Content-Length: 9") {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	return []byte(head + "\r\n" + body)
}

// costs returns how long a call took, and how many bytes were allocated meanwhile.
func costs(call func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	call()
	took := time.Since(begun)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}

func TestHostileResponses(t *testing.T) {
	clienttest.LeavesNoGoroutine(t)
	// What grows with the square of a response reaches the timeout of the attempt. A busy machine does not: the slowest
	// response takes a tenth of a second.
	const timeBound, memoryBound = 15 * time.Second, 64 << 20
	var current []byte
	base := clienttest.ServeRaw(t, func(conn net.Conn) {
		c := faultConn{Conn: conn, tcp: conn.(*net.TCPConn)}
		in := make([]byte, 4096) // a request of these tests is smaller
		n, err := c.Read(in)
		for err == nil && bytes.HasPrefix(in, []byte("POST")) && !bytes.HasSuffix(in[:n], []byte("}")) {
			var more int
			more, err = c.Read(in[n:])
			n += more
		}
		_, _ = conn.Write(current)
	})
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: base, Retry: cardgateway.RetryPolicy{MaxAttempts: 1}, AttemptTimeout: 20 * time.Second})
	query := cardgateway.OrderQuery{Start: time.Unix(0, 0), End: time.Unix(86400, 0)}
	calls := map[string]func() error{
		"payment":     func() error { _, err := clienttest.PayByToken(t.Context(), c, "t-1"); return err },
		"transaction": func() error { _, err := c.GetTransaction(t.Context(), "1"); return err },
		"page":        func() error { _, err := c.SearchOrders(t.Context(), query, cardgateway.PageRequest{}); return err },
	}
	for _, h := range append(hostileTexts(), hostileMembers()...) {
		t.Run(h.name, func(t *testing.T) {
			if clienttest.RaceDetector && len(h.body) > 100_000 {
				return // it makes each byte cost twenty times as much; the figures come from a run without it
			}
			for kind, call := range calls {
				h := h
				if kind == "page" && strings.HasPrefix(h.body, `{"code":100`) {
					h.body = rows(h.body)
				}
				current = h.bytes("t-1")
				name := kind + ", " + h.name
				var err error
				took, allocated := costs(func() { err = call() })
				want := cardgateway.ErrQueryFailed
				if kind == "payment" {
					want = cardgateway.ErrOutcomeUnknown
				}
				if tolerated := kind != "payment" && toleratedInQueries(h); !errors.Is(err, want) && !tolerated {
					t.Errorf("%s: got %v, want %v", name, err, want)
				}
				if err != nil && len(err.Error()) > 100_000 {
					t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
				}
				if took > timeBound || allocated > memoryBound {
					t.Errorf("%s: took %v and %d MiB, at most %v and %d MiB are allowed", name, took, allocated>>20, timeBound, memoryBound>>20)
				}
			}
		})
	}
}

// toleratedInQueries are responses that do no harm in a query: their odd member is not one that the query is about.
func toleratedInQueries(h hostile) bool {
	return strings.Contains(h.name, "transactionId only") || strings.Contains(h.name, "code") && strings.Contains(h.name, "only") ||
		h.name == "code null" || strings.HasPrefix(h.name, "zero byte in") || strings.Contains(h.name, "in a member")
}

// TestEndlessResponses: responses that end only by the timeout of an attempt or the limit of a body.
func TestEndlessResponses(t *testing.T) {
	clienttest.LeavesNoGoroutine(t)
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	endless := map[string]struct{ head, again string }{
		"body in drops":      {chunked, "1\r\n \r\n"},
		"body at full speed": {chunked, "10000\r\n" + strings.Repeat(" ", 0x10000) + "\r\n"},
		"chunk extensions":   {chunked, "1;" + strings.Repeat("x", 4000) + "\r\n \r\n"},
		"headers":            {"HTTP/1.1 200 OK\r\n", "X: y\r\n"},
		"interim responses":  {"", "HTTP/1.1 102 P\r\n\r\n"},
		"first line":         {"HTTP/1.1 200 ", "O"},
		"trailers":           {chunked + "1\r\n{\r\n0\r\n", "X: y\r\n"},
	}
	for name, text := range endless {
		t.Run(name, func(t *testing.T) {
			base := clienttest.ServeRaw(t, func(conn net.Conn) {
				_, _ = io.CopyN(io.Discard, conn, 10)
				_, err := io.WriteString(conn, text.head)
				for err == nil {
					_, err = io.WriteString(conn, text.again)
				}
			})
			c := clienttest.NewClient(t, cardgateway.Config{BaseURL: base, AttemptTimeout: 100 * time.Millisecond, Retry: cardgateway.RetryPolicy{MaxAttempts: 1}})
			var payErr, queryErr error
			took, allocated := costs(func() {
				_, payErr = clienttest.PayByToken(t.Context(), c, "t-1")
				_, queryErr = c.GetTransaction(t.Context(), "1")
			})
			if !errors.Is(payErr, cardgateway.ErrOutcomeUnknown) && !errors.Is(payErr, cardgateway.ErrNotSent) || // responded before the body was taken
				!errors.Is(queryErr, cardgateway.ErrQueryFailed) {
				t.Errorf("%s: got %v and %v", name, payErr, queryErr)
			}
			if took > 30*time.Second || allocated > 128<<20 { // two calls, which without their timeout of 100 ms would never end
				t.Errorf("%s: took %v and %d MiB", name, took, allocated>>20)
			}
		})
	}
}
