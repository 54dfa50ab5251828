package faults

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// SpeedRow is the number of payments per second with one store, and a server that responds at once.
type SpeedRow struct {
	Store    string
	Callers  int
	Bare     float64 // payments per second by the client alone
	Journal  float64 // the same through the journal
	BareP50  time.Duration
	P50, P99 time.Duration // of a payment through the journal
	BareCPU  time.Duration // of this process for each payment by the client alone
	CPU      time.Duration // the same through the journal
}

// Ratio is the speed with the journal, divided by that of the bare client.
func (r *SpeedRow) Ratio() float64 { return r.Journal / r.Bare }

// speedRounds is how many times bare client and journal alternate, so that other load affects both alike.
const speedRounds = 3

// Speed measures TokenPayment with one store and so many concurrent callers, for about the given time for each of the two.
func Speed(name, spec string, callers int, long time.Duration) (row *SpeedRow, err error) {
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
			begun, cpu := time.Now(), processorTime()
			some, err := payFor(p.payer, callers, long/speedRounds, fmt.Sprintf("%s-%d-%d", p.name, callers, round))
			if err != nil {
				return nil, err
			}
			p.to.each = append(p.to.each, some...)
			p.to.took += time.Since(begun)
			p.to.cpu += processorTime() - cpu
		}
	}
	return &SpeedRow{
		Store: name, Callers: callers,
		Bare: float64(len(bare.each)) / bare.took.Seconds(), Journal: float64(len(through.each)) / through.took.Seconds(),
		BareP50: percentile(bare.each, 50), P50: percentile(through.each, 50), P99: percentile(through.each, 99),
		BareCPU: bare.cpu / time.Duration(len(bare.each)), CPU: through.cpu / time.Duration(len(through.each)),
	}, nil
}

// timings are what payments took: each of them, and all together.
type timings struct {
	each      []time.Duration
	took, cpu time.Duration
}

// percentile sorts all, and returns the one that so many per cent are below.
func percentile(all []time.Duration, percent int) time.Duration {
	slices.Sort(all)
	return all[len(all)*percent/100]
}

// payFor pays with so many callers for a time, and returns the duration of each payment.
func payFor(p payer, callers int, long time.Duration, name string) (all []time.Duration, err error) {
	var wg sync.WaitGroup
	took := make([][]time.Duration, callers)
	failed := make([]error, callers)
	until := time.Now().Add(long)
	token := cardgateway.NewToken("tok-0123456789abcdef")
	for i := range callers {
		wg.Go(func() {
			for n := 0; ; n++ {
				begun := time.Now()
				if begun.After(until) {
					return
				}
				_, failed[i] = p.TokenPayment(background, token, cardgateway.TokenPaymentRequest{
					TransactionID: fmt.Sprintf("%s-%02d-%06d", name, i, n), Currency: "USD", Amount: decimal.New(1250, -2), TransactionIP: shopIP,
					CallbackURL: shopURL, NotificationURL: shopURL, ProductInfos: products,
				})
				if failed[i] != nil {
					return
				}
				took[i] = append(took[i], time.Since(begun))
			}
		})
	}
	wg.Wait()
	return slices.Concat(took...), errors.Join(failed...)
}

// PrintSpeed writes rows as a table.
func PrintSpeed(w io.Writer, rows []*SpeedRow) {
	var cells [][]any
	for _, r := range rows {
		cells = append(cells, []any{r.Store, r.Callers, int(r.Bare), int(r.Journal), fmt.Sprintf("%.2f", r.Ratio()), micros(r.P50), micros(r.P99),
			micros(r.BareCPU), micros(r.CPU)})
	}
	printTable(w, "Store|Callers|Payments a second, plain client|with the journal|Ratio|Journal, median|99 %|CPU a payment, plain client|with the journal",
		cells)
}

// runInstant is a server that approves every payment at once, with as little work as possible.
func runInstant(*task) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("url", "http://"+l.Addr().String())
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go approveAll(c)
	}
}

func approveAll(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		length := 0
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			if len(line) <= 2 {
				break
			}
			if name, value, _ := strings.Cut(string(line), ":"); strings.EqualFold(name, "Content-Length") {
				length, _ = strconv.Atoi(strings.TrimSpace(value)) // of this program's client
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		_, rest, _ := bytes.Cut(body, []byte(`"transactionId":"`))
		id, _, _ := bytes.Cut(rest, []byte(`"`))
		reply := fmt.Sprintf(`{"code":100,"message":"ok","uniqueId":"20261120000000000001","transactionId":"%s","transactionAmount":"12.50","transactionCurrency":"USD"}`, id)
		if _, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(reply), reply); err != nil {
			return
		}
	}
}
