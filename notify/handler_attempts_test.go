package notify_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/cardgateway/cardgateway-go/notify"
)

// On the hosted page a cardholder whose card was declined can try another one: a decline ends one attempt, not the
// transaction, and a later approval of the same transactionId is a new event.

// TestHandlerApprovalAfterDecline delivers the attempts of one transactionId, one after the other, each in the state that
// the gateway returns at that time.
func TestHandlerApprovalAfterDecline(t *testing.T) {
	type attempt struct {
		uniqueID string
		code     int
		handled  int // so far
	}
	tests := []struct {
		name     string
		attempts []attempt
	}{
		{"one transaction of the gateway's", []attempt{{"7", 101, 1}, {"7", 101, 1}, {"7", 100, 2}, {"7", 100, 2}}},
		{"a transaction for each attempt", []attempt{{"7", 101, 1}, {"8", 101, 2}, {"9", 100, 3}, {"9", 100, 3}}},
		{"the decline comes again", []attempt{{"7", 101, 1}, {"8", 100, 2}, {"7", 101, 2}}},
		{"closed, after a decline", []attempt{{"7", 101, 1}, {"7", 103, 2}}},
	}
	for _, tt := range tests {
		for _, shared := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, shared Deduper %v", tt.name, shared), func(t *testing.T) {
				var opts notify.Options
				if shared {
					opts.Deduper = notify.NewMemoryDeduper(0)
				}
				s := newShop(t, opts)
				for _, a := range tt.attempts {
					s.knows(a.uniqueID, fmt.Sprintf(`{"code":%d,"uniqueId":%q,"transactionId":"order-1"}`, a.code, a.uniqueID))
					body := fmt.Sprintf(`{"code":%d,"transactionType":"Sale","uniqueId":%q,"transactionId":"order-1"}`, a.code, a.uniqueID)
					s.expect(t, s.post("", body), 200, a.handled)
					last := s.handled[len(s.handled)-1].Transaction
					if handled := !s.infos[len(s.infos)-1].Repeated; handled && (int(last.Code) != a.code || last.UniqueID != a.uniqueID) {
						t.Errorf("handled: got %v of %s, want %d of %s", last.Code, last.UniqueID, a.code, a.uniqueID)
					}
				}
			})
		}
	}
}

// TestHandlerTokenAfterDecline: the token of a declined attempt does not block the token of the approved card, and after
// the approval no other token is accepted. A notification of the approval that arrives while the gateway still shows the decline before
// it is not accepted, so that the gateway repeats it: otherwise the approval, and a token that came with it, would be lost.
func TestHandlerTokenAfterDecline(t *testing.T) {
	type delivery struct {
		token        string
		shows        int // the gateway
		status       int
		handledSoFar int
		claims       int // the payload, if not what the gateway shows
	}
	tests := []struct {
		name       string
		deliveries []delivery
	}{
		{"with the decline", []delivery{{"tok-declined", 101, 200, 1, 0}, {"tok-approved", 100, 200, 2, 0}, {"tok-forged", 100, 409, 2, 0}}},
		{"before the decline", []delivery{
			{"tok-declined", 301, 200, 1, 0}, {"tok-forged", 301, 409, 1, 0}, {"", 101, 200, 2, 0}, {"tok-approved", 100, 200, 3, 0}, {"tok-forged", 103, 409, 3, 0},
		}},
		{"an older decline after the approval", []delivery{{"tok-approved", 100, 200, 1, 0}, {"", 101, 200, 2, 0}, {"tok-forged", 103, 409, 2, 0}}},
		{
			"shown as unfinished after the approval",
			[]delivery{{"tok-approved", 100, 200, 1, 0}, {"tok-approved", 102, 200, 2, 0}, {"", 101, 200, 3, 0}, {"tok-forged", 103, 409, 3, 0}},
		},
		{"the decline before it is shown", []delivery{{"tok-declined", 102, 503, 0, 101}, {"tok-approved", 100, 200, 1, 0}}},
		{"the approval before it is shown", []delivery{{"", 101, 200, 1, 0}, {"", 101, 503, 1, 100}, {"", 100, 200, 2, 0}}},
		{"the approval with a token before it is shown", []delivery{{"tok-declined", 101, 200, 1, 0}, {"tok-approved", 101, 503, 1, 100}, {"tok-approved", 100, 200, 2, 0}}},
		{"the decline only after the approval", []delivery{{"tok-declined", 100, 503, 0, 101}, {"tok-approved", 100, 200, 1, 0}, {"tok-declined", 100, 409, 1, 101}}},
		{"approved when it comes again", []delivery{{"tok-approved", 301, 200, 1, 0}, {"tok-approved", 100, 200, 2, 0}, {"", 101, 200, 3, 0}, {"tok-forged", 103, 409, 3, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, own := newTokenShop(t)
			for i, d := range tt.deliveries {
				s.knows("987654321", fmt.Sprintf(`{"code":%d,"uniqueId":"987654321","transactionId":"order-1"}`, d.shows))
				body := fmt.Sprintf(`{"code":%d,"transactionType":"Sale","uniqueId":"987654321","transactionId":"order-1","token":%q}`, cmp.Or(d.claims, d.shows), d.token)
				w := s.post(own, body)
				if w.Code != d.status || len(s.handled) != d.handledSoFar {
					t.Errorf("delivery %d: got status %d and %d handled, want %d and %d", i+1, w.Code, len(s.handled), d.status, d.handledSoFar)
				}
				if d.status == 200 && w.Code == 200 && s.handled[len(s.handled)-1].Token.Reveal() != d.token {
					t.Errorf("delivery %d: got token %q, want %q", i+1, s.handled[len(s.handled)-1].Token.Reveal(), d.token)
				}
			}
		})
	}
}

// TestHandlerNextPage: another transaction or refund that the notification could mean may be on a page that was not read.
func TestHandlerNextPage(t *testing.T) {
	const (
		order  = `{"code":101,"uniqueId":"987654321","transactionId":"order-1"}`
		refund = `{"code":111,"uniqueId":"987654321","refundUniqueId":"55","merchantRefundId":"r-1"}`
		other  = `,{"code":101,"uniqueId":"1","transactionId":"order-2"}`
	)
	tests := []struct {
		name, body    string
		total, others int
		status        int
	}{
		{"all transactions", `{"code":101,"transactionType":"Sale","transactionId":"order-1"}`, 1, 0, 200},
		{"more transactions", `{"code":101,"transactionType":"Sale","transactionId":"order-1"}`, 2, 0, 503},
		{"nine transactions", `{"code":101,"transactionType":"Sale","transactionId":"order-1"}`, 9, 8, 200},
		{"ten transactions, which may be a full page", `{"code":101,"transactionType":"Sale","transactionId":"order-1"}`, 10, 9, 503},
		{"all refunds", `{"code":111,"transactionType":"Refund","uniqueId":"987654321"}`, 1, 0, 200},
		{"more refunds", `{"code":111,"transactionType":"Refund","uniqueId":"987654321"}`, 2, 0, 503},
		{"more refunds, with an id", `{"code":111,"transactionType":"Refund","uniqueId":"987654321","refundUniqueId":"55"}`, 2, 0, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, notify.Options{})
			for path, row := range map[string]string{"order": order, "refund": refund} {
				page := fmt.Sprintf(`{"code":121,"currPage":1,"pageSize":1,"totalCount":%d,"totalPage":%d,"data":[%s]}`, tt.total, tt.total, row+strings.Repeat(other, tt.others))
				s.gateway.RegisterResponder("GET", gatewayURL+"/search/list/"+path, httpmock.NewStringResponder(200, page))
			}
			handled := 0
			if tt.status == 200 {
				handled = 1
			}
			s.expect(t, s.post("", tt.body), tt.status, handled)
		})
	}
}
