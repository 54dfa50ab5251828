package simulation

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// mail is a notification that a gateway has sent, and that has not necessarily arrived.
type mail struct {
	url   string
	body  []byte
	at    time.Time
	token string
}

// mailbox has the notifications of one gateway, in the order in which they were sent. It is the gateway's Notifications.Transport.
type mailbox struct {
	mu     sync.Mutex
	sorted int // of all
	all    []mail
}

func (b *mailbox) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	m := mail{url: r.URL.String(), body: body, at: time.Now()}
	m.token, _ = decode(body)["token"].(string)
	b.mu.Lock()
	b.all = append(b.all, m)
	b.mu.Unlock()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// list returns all notifications. Those that were sent at the same time are put in an order that does not depend on the run.
func (b *mailbox) list(w *world) []mail {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.SortStableFunc(b.all[b.sorted:], func(x, y mail) int {
		return cmp.Or(x.at.Compare(y.at), bytes.Compare(x.body, y.body))
	})
	for _, m := range b.all[b.sorted:] {
		if m.token != "" {
			w.secrets = append(w.secrets, []byte(m.token))
		}
	}
	b.sorted = len(b.all)
	return b.all
}

// tokens returns the tokens that were sent for a transactionId: several if it was executed several times.
func (b *mailbox) tokens(transactionID string) (tokens []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.all {
		if m.token != "" && decode(m.body)["transactionId"] == transactionID {
			tokens = append(tokens, m.token)
		}
	}
	return tokens
}

func (m mail) String() string {
	f := decode(m.body)
	return fmt.Sprintf("%v %v code %v uniqueId %v", f["transactionType"], cmp.Or(f["transactionId"], f["merchantRefundId"]), f["code"], f["uniqueId"])
}

// request returns the request with which a notification is sent, and whether no handler may accept it.
func (m mail) request(s *shop, how string, seed uint64) (r *http.Request, forged bool) {
	to, body := m.url, m.body
	stranger := !s.config.Notifications.Unverified // is turned away
	fields := decode(m.body)
	key := "" // with which it is signed again
	switch how {
	case "shifted": // by somebody who has seen it, and does not know the URL of a token order
		var member string
		body, member = shifted(m, seed)
		to, forged = notificationBase, m.token != "" || member == "transactionId" // it contradicts the gateway
	case "forged":
		fields["code"], fields["transactionAmount"] = 100, "0.01"
		fields["sign"] = strings.Repeat("0", 64)
		delete(fields, "token")
		to, body, forged = notificationBase, fields.encode(), stranger
	case "another token":
		fields["token"] = s.gateway.tokens[sandbox.Declined]
		delete(fields, "sign")
		to, body, forged = notificationBase, fields.encode(), true
	case "second token": // which comes to the URL that only the gateway knows
		fields["token"], key = s.gateway.tokens[sandbox.Declined], secretKey
	case "another URL":
		forged = m.token != "" // a token comes to its own URL only
		to = notificationBase + "?bind=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	case "unsigned":
		delete(fields, "sign")
		body, forged = fields.encode(), stranger
	case "without uniqueId", "another shop's": // each gateway here counts its uniqueIds from the same number
		delete(fields, "uniqueId")
		key = secretKey
	case "older key":
		key, forged = olderKey, stranger && !s.config.Notifications.OwnKey
	}
	if key != "" {
		delete(fields, "sign")
		return must(sandbox.NotificationRequest(to, key, fields)), forged
	}
	r = httptest.NewRequest(http.MethodPost, to, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r, forged
}

// shifted moves a character from one value to the next, which the published signature does not notice, and says which member
// it has taken it from.
func shifted(m mail, seed uint64) (body []byte, member string) {
	fields := decode(m.body)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(n string) bool {
		s, is := fields[n].(string)
		return n == "sign" || !is || s == ""
	})
	want := []string{"transactionId", "uniqueId", "transactionAmount"}[seed%3]
	for i := 1; i < len(names); i++ {
		if names[i] == want {
			before, value := fields[names[i-1]].(string), fields[names[i]].(string)
			fields[names[i-1]], fields[names[i]], member = before+value[:1], value[1:], names[i]
		}
	}
	return fields.encode(), member
}
