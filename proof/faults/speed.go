package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// SpeedRow is the number of payments per second with one store, and a server that responds at once.
type SpeedRow struct {
	Kind     string // of the store
	Callers  int
	Bare     float64       // payments per second by the client alone
	Journal  float64       // the same through the journal
	P50, P99 time.Duration // of a payment through the journal
}

// speedRounds is how many times bare client and journal alternate, so that other load affects both alike.
const speedRounds = 3

// Speed measures TokenPayment with one store and so many concurrent callers, by about so many payments of each of the two.
func Speed(spec string, callers, payments int) (row *SpeedRow, err error) {
	c, err := startChild(&task{Role: "instant"})
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, c.cmd.Process.Kill())
		_ = c.cmd.Wait() // it was killed
	}()
	_, url, ok := c.next()
	if !ok {
		return nil, errors.New("faults: the server did not start")
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	defer transport.CloseIdleConnections()
	client, err := cardgateway.New(cardgateway.Config{BaseURL: url, AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		return nil, err
	}
	store, done, err := OpenStore(spec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	j := journal.New(client, store, journal.Options{})
	var bare, through timings
	for round := range speedRounds {
		for _, p := range []struct {
			payer payer
			to    *timings
			name  string
		}{{client, &bare, "bare"}, {j, &through, "journal"}} {
			begun := time.Now()
			some, err := payFor(p.payer, callers, payments/speedRounds, fmt.Sprintf("%s-%d-%d", p.name, callers, round))
			if err != nil {
				return nil, err
			}
			p.to.each = append(p.to.each, some...)
			p.to.took += time.Since(begun)
		}
	}
	return &SpeedRow{
		Kind: storeKind(spec), Callers: callers,
		Bare: float64(len(bare.each)) / bare.took.Seconds(), Journal: float64(len(through.each)) / through.took.Seconds(),
		P50: percentile(through.each, 50), P99: percentile(through.each, 99),
	}, nil
}

// timings are what payments took: each of them, and all together.
type timings struct {
	each []time.Duration
	took time.Duration
}

// percentile sorts all, and returns the one that so many per cent are below.
func percentile(all []time.Duration, percent int) time.Duration {
	slices.Sort(all)
	return all[len(all)*percent/100]
}

// payFor makes so many payments with so many callers, and returns the duration of each.
func payFor(p payer, callers, payments int, name string) ([]time.Duration, error) {
	took, failed := make([]time.Duration, payments), make([]error, payments)
	token := cardgateway.NewToken("tok-0123456789abcdef")
	each(payments, callers, func(i int) {
		begun := time.Now()
		_, failed[i] = p.TokenPayment(background, token, cardgateway.TokenPaymentRequest{
			TransactionID: fmt.Sprintf("%s-%06d", name, i), Currency: "USD", Amount: decimal.New(1250, -2), TransactionIP: shopIP,
			CallbackURL: shopURL, NotificationURL: shopURL, ProductInfos: products,
		})
		took[i] = time.Since(begun)
	})
	return took, errors.Join(failed...)
}

// speedTable returns rows as a table.
func speedTable(rows []*SpeedRow) string {
	const head = "Store|Callers|Payments a second, plain client|with the journal|Ratio|Journal, median|99 %"
	return table(head, rows, func(r *SpeedRow) []any {
		return []any{r.Kind, r.Callers, int(r.Bare), int(r.Journal), fmt.Sprintf("%.2f", r.Journal/r.Bare), micros(r.P50), micros(r.P99)}
	})
}

// runInstant is a server that approves every payment at once.
func runInstant(*task) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("url", "http://"+l.Addr().String())
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // without all of it there is no id
		_, rest, _ := bytes.Cut(body, []byte(`"transactionId":"`))
		id, _, _ := bytes.Cut(rest, []byte(`"`))
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"code":100,"message":"ok","uniqueId":"20261120000000000001","transactionId":"%s",`+
			`"transactionAmount":"12.50","transactionCurrency":"USD"}`, id)
	}))
}
