package loopback

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// listIntents serves a page of payment intents after a cursor, which here is the number of the previous intent. The
// parameter customer, which a list of all intents does not need, is the total number.
func listIntents(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after, _ := strconv.Atoi(strings.TrimPrefix(q.Get("starting_after"), "pi_"))
	limit, stop := number(q, "limit", 10), number(q, "customer", 0)
	var b strings.Builder
	last := min(after+limit, stop)
	fmt.Fprintf(&b, `{"object":"list","url":"/v1/payment_intents","has_more":%t,"data":[`, last < stop)
	for n := after + 1; n <= last; n++ {
		if n > after+1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%spi_%d%s", intentHead, n, intentTail)
	}
	b.WriteString("]}")
	w.Header()["Content-Type"] = jsonContent
	_, _ = w.Write([]byte(b.String()))
}

// listIssues serves a page of issues, each about as long as an order, and the link to the next page.
func listIssues(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page, size, stop := number(q, "page", 1), number(q, "per_page", 30), number(q, "milestone", 0)
	first, past := (page-1)*size, min(page*size, stop)
	if past < stop {
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?milestone=%d&page=%d&per_page=%d>; rel="next"`, r.Host, r.URL.Path, stop, page+1, size))
	}
	var b strings.Builder
	b.WriteByte('[')
	for n := first + 1; n <= past; n++ {
		if n > first+1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, issue, n, n)
	}
	b.WriteByte(']')
	w.Header()["Content-Type"] = jsonContent
	_, _ = w.Write([]byte(b.String()))
}

const issue = `{"id":%d,"number":%d,"node_id":"MDU6SXNzdWUx","state":"open","title":"Candle box, weekly",` +
	`"body":"Unscented Tea Light Candles, White, Pack of 100","locked":false,"comments":0,` +
	`"created_at":"2026-01-10T11:04:05Z","updated_at":"2026-01-10T11:04:05Z","author_association":"OWNER",` +
	`"user":{"login":"shop","id":1,"node_id":"MDQ6VXNlcjE=","type":"User","site_admin":false,` +
	`"html_url":"https://shop.example/shop","url":"https://shop.example/users/shop"},` +
	`"html_url":"https://shop.example/shop/orders/issues/1","url":"https://shop.example/repos/shop/orders/issues/1",` +
	`"labels":[{"id":208045946,"name":"paid","color":"f29513","default":true}]}`
