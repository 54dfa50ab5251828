//go:build unix

package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// deployment is what the processes of a shop share. The gateway goes on if they end.
type deployment struct {
	gateway  *sandbox.Server
	database string
	keyFile  string
	balancer *balancer // under which the gateway reaches them; nil means directly
}

func deploy(t *testing.T, database string) *deployment {
	t.Helper()
	gateway, err := sandbox.Start(sandbox.Options{MerchantID: "m-1", SecretKey: "test-secret", AppID: demoAppID,
		Cards: sandbox.Cards{HostedRetry: true}, Notifications: sandbox.Notifications{Scale: 0.01}})
	must(t, err)
	t.Cleanup(gateway.Close)
	return &deployment{gateway: gateway, database: database, keyFile: filepath.Join(t.TempDir(), "shop.key")}
}

// process is a running shop.
type process struct {
	*world
	cmd    *exec.Cmd
	output *clienttest.Buffer
}

func (d *deployment) command(p *process, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append(args, "-base-url", d.gateway.URL, "-app-id", demoAppID, "-merchant-id", "m-1", "-test-payments", "-staff")...)
	cmd.Env = append(os.Environ(), asShop+"=1", "CARDGATEWAY_SECRET=test-secret", "SHOP_DB="+d.database, "SHOP_KEY_FILE="+d.keyFile)
	cmd.Stdout, cmd.Stderr = p.output, p.output
	return cmd
}

// start starts a process, and waits until it serves.
func (d *deployment) start(t *testing.T) *process {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := l.Addr().String()
	_ = l.Close()
	p := &process{world: &world{url: "http://" + address, gateway: d.gateway.Gateway}, output: new(clienttest.Buffer)}
	public := p.url
	if d.balancer != nil {
		public = d.balancer.URL
	}
	p.cmd = d.command(p, "-listen", address, "-url", public)
	must(t, p.cmd.Start())
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // if the test has not ended it
		_ = p.cmd.Wait()
		if t.Failed() {
			t.Logf("the log of %s:\n%s", p.url, p.output)
		}
	})
	eventually(t, "the shop", func() string {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			return err.Error()
		}
		return is("", "", connection.Close())
	})
	return p
}

// terminate ends the process as a service manager does.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	must(t, p.cmd.Process.Signal(syscall.SIGTERM))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it was killed
}

// awaitsLine waits for a line of the log that has all these words.
func (p *process) awaitsLine(t *testing.T, words ...string) {
	t.Helper()
	eventually(t, strings.Join(words, " and "), func() string {
		for line := range strings.Lines(p.output.String()) {
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
				return ""
			}
		}
		return "is in no line"
	})
}

// wantErrors checks how many errors and alerts were logged, but for notifications that a process had begun to handle when it was killed.
func (p *process) wantErrors(t *testing.T, want int) {
	t.Helper()
	var got []string
	for line := range strings.Lines(p.output.String()) {
		if strings.Contains(line, "level=ERROR") && !strings.Contains(line, "handled elsewhere") {
			got = append(got, line)
		}
	}
	if len(got) != want {
		t.Errorf("%d errors were logged, want %d:\n%s", len(got), want, got)
	}
}

// buysLater sends the form of the checkout without waiting, and sends the status of the response, or 0.
func (s *shopper) buysLater(sku, pay string) <-chan int {
	s.t.Helper()
	s.post("/cart", values("sku", sku)).get("/checkout")
	form := buyer("cart", s.hidden("cart"), "pay", pay)
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.w.url+"/checkout", strings.NewReader(form.Encode()))
	must(s.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{Jar: s.client.Jar, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	status := make(chan int, 1)
	go func() {
		response, err := client.Do(r)
		if err != nil {
			status <- 0
			return
		}
		_ = response.Body.Close()
		status <- response.StatusCode
	}()
	return status
}

// movesTo lets the shopper use another process.
func (s *shopper) movesTo(p *process) { s.w = p.world }

// trade does what customers do, presses each button twice, and checks how often money moved. It returns the orders that were paid.
func (s *shopper) trade(p *process) (paid []string) {
	s.t.Helper()
	gateway := s.w.gateway
	before := len(gateway.Moves(0))
	card := s.saveCard(sandbox.Approved)
	byCard := s.buy("tapers", card)
	gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, Reply: sandbox.ReplyReset})
	lost := s.buy("tapers", card)
	byPage := s.buy("tapers", "")
	page := s.hostedPage()
	s.enter(page, sandbox.Declined)
	s.awaits(byPage, payments.Declined)
	s.enter(page, sandbox.Approved) // the page takes another card
	paid = []string{byCard, lost, byPage}
	for _, id := range paid {
		s.awaits(id, payments.Paid)
		s.post("/orders/"+id+"/pay", nil)
		s.post("/orders/"+id+"/otherwise", values("pay", card))
		if n := gateway.Executed(id); n != 1 {
			s.t.Errorf("%s was charged %d times, want once", id, n)
		}
	}
	for range 2 {
		s.post("/staff/orders/"+byCard+"/refund/"+byCard+"-R1", nil)
	}
	s.awaitsWord(byCard, "Refunded")
	if n := gateway.Refunded(byCard + "-R1"); n != 1 {
		s.t.Errorf("%s was refunded %d times, want once", byCard, n)
	}
	if moves := gateway.Moves(before); len(moves) != 4 {
		s.t.Errorf("money moved %d times, want 4: three payments and a refund: %+v", len(moves), moves)
	}
	token, err := gateway.Token(card)
	if err != nil || strings.Contains(p.output.String(), token) {
		s.t.Errorf("a log has the token, %v", err)
	}
	return paid
}

// TestOneProcess uses the program with SQLite, and stops it in the middle of a payment.
func TestOneProcess(t *testing.T) {
	t.Parallel()
	d := deploy(t, filepath.Join(t.TempDir(), "shop.db"))
	seed(d.gateway, 700)
	p := d.start(t)
	s := newShopper(t, p.world)
	paid := s.trade(p)
	must(t, d.gateway.Chargeback(paid[0]))
	p.awaitsLine(t, "level=ERROR", "a chargeback", paid[0])
	db := connect(t, "sqlite", d.database)
	checkCopy(t, db, d.gateway)

	d.gateway.Inject(sandbox.Fault{Operation: sandbox.OpCreateCheckout, After: time.Second})
	response := s.buysLater("tapers", "")
	last := ""
	eventually(t, "a checkout", func() string {
		last = texts(t, db, `SELECT id FROM orders ORDER BY created DESC LIMIT 1`)[0]
		return is(fmt.Sprint(len(d.gateway.Rows(last))), "1", nil)
	})
	p.terminate(t)
	if status := <-response; status != http.StatusSeeOther {
		t.Errorf("the request during SIGTERM got status %d", status)
	}
	if got := texts(t, db, `SELECT state FROM attempts WHERE id = $1`, last); !slices.Equal(got, []string{"waiting"}) {
		t.Errorf("the attempt is %q, want waiting", got)
	}
	p.wantErrors(t, 1) // the chargeback
}

// TestTwoProcesses uses two processes with one Postgres. The one that works is killed in the middle of a payment and of the copy;
// another one takes its place.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	d := deploy(t, pgserver.Own(t).URL("public"))
	d.balancer = startBalancer(t)
	seed(d.gateway, 3500)
	db := connect(t, "pgx", d.database)
	first := d.start(t)
	d.balancer.use(first)
	s := newShopper(t, first.world)
	card := s.saveCard(sandbox.Approved)
	second := d.start(t) // it stands by

	d.gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, After: time.Minute})
	s.buysLater("tapers", card) // its response is lost with the process
	lost := ""
	eventually(t, "a payment", func() string {
		lost = strings.Join(texts(t, db, `SELECT id FROM orders`), " ")
		return is(fmt.Sprint(d.gateway.Executed(lost)), "1", nil)
	})
	eventually(t, "a part of the copy", func() string {
		return is(fmt.Sprint(number(db, `SELECT COUNT(*) FROM gateway_orders`) > 1400), "true", nil)
	})
	first.kill()
	if number(db, `SELECT COUNT(*) FROM copies WHERE name = 'orders' AND position <> 'null'`) != 1 {
		t.Error("the copy was complete before the process was killed: seed more")
	}
	d.balancer.use(second)
	s.movesTo(second)
	s.awaits(lost, payments.Paid)

	for _, update := range []string{
		`UPDATE gateway_orders SET at = -1`,               // a row that is copied again gets its time back
		`UPDATE copies SET due = 0 WHERE name = 'orders'`, // a quarter of an hour later
	} {
		if _, err := db.Exec(update); err != nil {
			t.Fatal(err)
		}
	}
	third := d.start(t)
	d.balancer.use(second, third)
	newShopper(t, &world{url: d.balancer.URL, gateway: d.gateway.Gateway}).trade(third)
	checkCopy(t, db, d.gateway)
	if number(db, `SELECT COUNT(*) FROM gateway_orders WHERE at = -1`) == 0 {
		t.Error("the copy has begun again, and not continued")
	}
	if number(db, `SELECT COUNT(*) FROM cardgateway_notified`) < 3 {
		t.Error("the processes do not share a Deduper")
	}
	for _, p := range []*process{second, third} {
		p.terminate(t)
		p.wantErrors(t, 0)
	}
}

// TestRestored: a payment and a refund that were made after the backup are found after the restore, and are not made again, also if the
// buttons are pressed that the backup has.
func TestRestored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := deploy(t, filepath.Join(dir, "shop.db"))
	p := d.start(t)
	s := newShopper(t, p.world)
	card := s.saveCard(sandbox.Approved)
	paid, waiting := s.buy("tapers", card), s.buy("tapers", "")
	page := s.hostedPage()
	s.awaits(paid, payments.Paid)
	declined := s.buy("tapers", s.saveCard(sandbox.Declined))
	s.awaits(declined, payments.Declined)
	backup := filepath.Join(dir, "backup.db")
	if _, err := connect(t, "sqlite", d.database).Exec(`VACUUM INTO '` + backup + `'`); err != nil {
		t.Fatal(err)
	}
	made := time.Now()
	s.enter(page, sandbox.Approved)
	s.awaits(waiting, payments.Paid)
	s.post("/orders/"+declined+"/otherwise", values("pay", card))
	s.awaits(declined, payments.Paid)
	s.post("/staff/orders/"+paid+"/refund/"+paid+"-R1", nil)
	s.awaitsWord(paid, "Refunded")
	lost := s.buy("pillar", card)
	s.awaits(lost, payments.Paid)
	p.terminate(t)
	before := len(d.gateway.Moves(0))

	d.database = backup
	for range 2 { // again, as after an error
		restore := d.command(p, "-restored", made.Format(time.RFC3339))
		if err := restore.Run(); err != nil {
			t.Fatal(err, p.output)
		}
	}
	p = d.start(t)
	s.movesTo(p)
	s.post("/orders/"+waiting+"/pay", nil)
	s.post("/orders/"+declined+"/otherwise", values("pay", card))
	s.post("/staff/orders/"+paid+"/refund/"+paid+"-R1", nil)
	s.awaits(waiting, payments.Paid)
	s.awaits(declined, payments.Paid)
	s.awaitsWord(paid, "Refunded")
	p.awaitsLine(t, "level=ERROR", "belongs to no order", lost)
	if moves := d.gateway.Moves(before); len(moves) != 0 {
		t.Errorf("money moved again: %+v", moves)
	}
}

// TestKilledWhilePaying kills the program at any moment of payments, and lets customers press the buttons again: nothing is charged twice,
// nothing that was charged is forgotten, and an order of which nothing was sent for certain can be paid.
func TestKilledWhilePaying(t *testing.T) {
	t.Parallel()
	d := deploy(t, filepath.Join(t.TempDir(), "shop.db"))
	d.balancer = startBalancer(t) // the gateway's notifications reach whatever process runs
	random := rand.New(rand.NewPCG(1, 2))
	p := d.start(t)
	d.balancer.use(p)
	s := newShopper(t, p.world)
	card := s.saveCard(sandbox.Approved)
	db := connect(t, "sqlite", d.database)
	for range 12 {
		var all []<-chan int
		for i := range 3 {
			all = append(all, s.buysLater("tapers", []string{card, ""}[i%2]))
		}
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
		p.kill()
		for _, one := range all {
			<-one
		}
		p = d.start(t)
		d.balancer.use(p)
		s.movesTo(p)
	}
	ids := texts(t, db, `SELECT id FROM orders`)
	if len(ids) < 10 {
		t.Fatalf("got %d orders, want more: the program is killed too early", len(ids))
	}
	states := map[string]int{}
	for _, id := range ids {
		state := s.get("/orders/" + id).match(`data-state="([^"]+)"`)
		states[state]++
		for range 2 { // the button, twice
			s.post("/orders/"+id+"/pay", nil)
		}
		entered := false
		eventually(t, "order "+id, func() string {
			now := s.get("/orders/" + id).match(`data-state="([^"]+)"`)
			if now == string(payments.Waiting) && !entered {
				entered = true
				s.enter(s.get("/orders/"+id+"/pay").hostedPage(), sandbox.Approved)
			}
			if now == string(payments.Checking) && len(d.gateway.Rows(id)) == 0 {
				return "" // killed just before it was sent: for a day, nobody can know that it will not arrive
			}
			return is(now, string(payments.Paid), nil)
		})
		rows, charged := len(d.gateway.Rows(id)), d.gateway.Executed(id)
		if paid := strings.Contains(s.page, `data-state="paid"`); rows > 1 || charged > 1 || paid != (charged == 1) {
			t.Errorf("%s was %s: the gateway has %d payments, charged %d times; paid is %t", id, state, rows, charged, paid)
		}
	}
	t.Logf("after the program was killed: %v", states)
}

// seed adds orders of the last weeks, which the copy must find.
func seed(gateway *sandbox.Server, n int) {
	gateway.Seed(n, time.Now().AddDate(0, 0, -20), time.Now().Add(-time.Hour))
}

// checkCopy waits for the copy, and compares it with the gateway's rows.
func checkCopy(t *testing.T, db *sql.DB, gateway *sandbox.Server) {
	t.Helper()
	eventually(t, "a complete copy", func() string {
		return is(fmt.Sprint(number(db, `SELECT COUNT(*) FROM copies WHERE position = 'null' AND due > 0 AND since > 1770000000000000`)), "2", nil)
	})
	if n := number(db, fmt.Sprintf(`SELECT COUNT(*) FROM copies WHERE since > %d`, time.Now().Add(-72*time.Hour).UnixMicro())); n != 0 {
		t.Errorf("%d copies do not read the last three days again", n)
	}
	from, to := time.Now().AddDate(0, 0, -25), time.Now().Add(-30*time.Minute) // before what this test has made
	for query, want := range map[string][]string{
		`SELECT unique_id FROM gateway_orders WHERE at < $1`:  slices.Sorted(gateway.OrderIDs(from, to)),
		`SELECT unique_id FROM gateway_refunds WHERE at < $1`: slices.Sorted(gateway.RefundIDs(from, to)),
	} {
		if got := texts(t, db, query, to.Unix()); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: got %d rows, want the gateway's %d", query, len(got), len(want))
		}
	}
	for _, text := range texts(t, db, `SELECT token FROM cards`) {
		if !strings.HasPrefix(text, "v1.") {
			t.Error("the database has a token that is not encrypted")
		}
	}
}

func connect(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	if driver == "sqlite" {
		source = "file:" + source + "?_pragma=busy_timeout(10000)" // the program writes too
	}
	db, err := sql.Open(driver, source)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// texts returns the first column of a query's rows, in order.
func texts(t *testing.T, db *sql.DB, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := db.Query(query, args...)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var text string
		must(t, rows.Scan(&text))
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// number returns the result of a query for a number, or -1.
func number(db *sql.DB, query string) (n int) {
	if err := db.QueryRow(query).Scan(&n); err != nil {
		return -1
	}
	return n
}

// balancer sends each request to the next of the processes.
type balancer struct {
	*httptest.Server
	processes atomic.Pointer[[]*process]
	next      atomic.Int64
}

func startBalancer(t *testing.T) *balancer {
	t.Helper()
	b := &balancer{}
	b.use()
	transport := &http.Transport{DisableKeepAlives: true}
	b.Server = httptest.NewServer(&httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		if all := *b.processes.Load(); len(all) > 0 {
			target, err := url.Parse(all[int(b.next.Add(1))%len(all)].url)
			if err != nil {
				panic(err)
			}
			r.SetURL(target)
		}
	}})
	t.Cleanup(b.Close)
	return b
}

func (b *balancer) use(processes ...*process) { b.processes.Store(&processes) }
