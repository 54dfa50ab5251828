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
