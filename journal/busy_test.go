package journal_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestQueriesInABusyShop: the first query for a payment whose outcome is unknown comes soon, although other calls go on ending so, here or in
// another process, or the same call is made again and again meanwhile.
func TestQueriesInABusyShop(t *testing.T) {
	for _, tt := range []struct {
		name    string
		standby bool // the calls are made in another process than the one that works
		id      func(i int) string
	}{
		{"others, in another process", true, func(i int) string { return fmt.Sprint(i) }},
		{"the same one, in another process", true, func(int) string { return "a" }},
		{"the same one, in this process", false, func(int) string { return "a" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
				var mu sync.Mutex
				var asked []time.Duration
				begun := time.Now()
				s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
					if r.URL.Query().Get("transactionId") == "a" {
						mu.Lock()
						asked = append(asked, time.Since(begun))
						mu.Unlock()
					}
					return s.gateway.RoundTripper().RoundTrip(r)
				})
				running(t, s.Journal, time.Hour, nil)
				caller := s.Journal
				if tt.standby {
					time.Sleep(3 * time.Second)
					caller = s.restarted(journal.Options{})
					running(t, caller, time.Hour, nil)
				}
				pay := func(id string) {
					s.loseNext(sandbox.CommitNever)
					_, _ = caller.CreateSubscription(context.Background(), order(id, approved))
					s.gateway.ClearFaults()
				}
				begun = time.Now()
				pay("a")
				for i := range 100 {
					time.Sleep(200 * time.Millisecond)
					pay(tt.id(i))
				}
				synctest.Wait()
				if len(asked) == 0 || asked[0] > 2*time.Second {
					t.Errorf("queried at %v, want the first query within two seconds", asked)
				}
			})
		})
	}
}
