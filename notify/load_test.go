package notify_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/notify"
)

// How many genuine notifications a handler processes over real connections, while forged ones arrive. By default the test
// is short, and slow enough for a busy machine. For measurements, on an idle one:
//
//	go test ./notify -run TestLoad -v -load 30s -rate 2000 -forged 2000
var (
	loadFor    = flag.Duration("load", time.Second, "TestLoad: for how long notifications come")
	loadRate   = flag.Int("rate", 300, "TestLoad: verified notifications in a second")
	loadForged = flag.Int("forged", 300, "TestLoad: forged notifications in a second")
)

const (
	gatewayTakes = 5 * time.Millisecond // for each query
	loadSenders  = 128                  // connections for each of the two kinds of notifications
)

func TestLoad(t *testing.T) {
	gateway := startQuietly(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(gatewayTakes)
		_, _ = io.WriteString(w, confirmation(r.URL.Path))
	})
	client, err := cardgateway.New(cardgateway.Config{BaseURL: gateway.URL, AppID: "77"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	handled := map[string]int{}
	var waits []time.Duration
	throttled := 0
	shop := startQuietly(t, notify.NewHandler(client, notify.Options{
		Verify: notify.SignatureSHA256(signingKey),
		Observe: func(_ context.Context, info notify.Info) {
			mu.Lock()
			defer mu.Unlock()
			if info.Verified {
				waits = append(waits, info.Waited)
			}
			if info.Throttled {
				throttled++
			}
		},
	}, func(_ context.Context, n *notify.Notification) error {
		mu.Lock()
		defer mu.Unlock()
		handled[n.Transaction.UniqueID]++
		return nil
	}).ServeHTTP)

	var verified, forged sent
	var group sync.WaitGroup
	begun := time.Now()
	group.Go(func() { verified = sendAtRate(shop.URL, *loadRate, func(i int) string { return signed(i + 1) }) })
	group.Go(func() {
		forged = sendAtRate(shop.URL, *loadForged, func(i int) string {
			return strings.Replace(signed(i+1), `"100`, `"200`, 1) // about another transaction than the signed one
		})
	})
	group.Wait()
	took := time.Since(begun)

	lost, twice := verified.number-len(handled), 0
	for _, times := range handled {
		if times > 1 {
			twice++
		}
	}
	t.Logf("%d verified and %d forged notifications in %v, on %d CPUs, with a gateway that takes %v: %.0f handled in a second",
		verified.number, forged.number, took.Round(time.Millisecond), runtime.GOMAXPROCS(0), gatewayTakes, float64(len(handled))/took.Seconds())
	t.Logf("lost %d, turned away %d, handled twice %d; verified: status %v, response %v; waits for a turn %v",
		lost, throttled, twice, verified.statuses, spread(verified.took), spread(waits))
	t.Logf("forged: status %v, response %v", forged.statuses, spread(forged.took))
	if lost != 0 || throttled != 0 || twice != 0 || verified.statuses[200] != verified.number {
		t.Errorf("got %d lost, %d turned away, %d handled twice and status %v, want each of %d handled once with 200",
			lost, throttled, twice, verified.statuses, verified.number)
	}
	if forged.statuses[403] != forged.number {
		t.Errorf("forged: got status %v, want 403 for all of %d", forged.statuses, forged.number)
	}
}

// startQuietly starts a server on the loopback.
func startQuietly(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// sent holds the results of the notifications that were sent.
type sent struct {
	number   int
	statuses map[int]int // 0: no response
	took     []time.Duration
}

// sendAtRate sends notifications at a constant rate, without waiting for earlier responses. Times are measured from when
// each one was due.
func sendAtRate(url string, rate int, body func(i int) string) sent {
	transport := &http.Transport{MaxIdleConnsPerHost: loadSenders}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
	s := sent{number: int(loadFor.Seconds() * float64(rate)), statuses: map[int]int{}}
	var mu sync.Mutex
	var next atomic.Int64
	var group sync.WaitGroup
	begun := time.Now()
	for range loadSenders {
		group.Go(func() {
			for i := int(next.Add(1) - 1); i < s.number; i = int(next.Add(1) - 1) {
				due := begun.Add(time.Duration(i) * time.Second / time.Duration(rate))
				time.Sleep(time.Until(due))
				status := deliverTo(client, url, body(i))
				mu.Lock()
				s.statuses[status]++
				s.took = append(s.took, time.Since(due))
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return s
}

func deliverTo(client *http.Client, url, body string) (status int) {
	response, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// spread describes the median, the 99th percentile and the maximum of durations.
func spread(d []time.Duration) string {
	if len(d) == 0 {
		return "none"
	}
	slices.Sort(d)
	at := func(share float64) time.Duration { return d[int(share*float64(len(d)-1))].Round(10 * time.Microsecond) }
	return fmt.Sprintf("median %v, 99 %% %v, longest %v", at(0.5), at(0.99), at(1))
}
