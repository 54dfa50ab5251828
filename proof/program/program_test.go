//go:build unix

package program

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// root is the directory of the repository.
const root = "../.."

var (
	program string // the executable
	keys    string // the directory of the keys
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

// runTests builds the program for all tests.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "program")
	if err == nil {
		defer os.RemoveAll(dir)
		program, keys = filepath.Join(dir, "shop"), dir
		err = errors.Join(build(dir), os.WriteFile(filepath.Join(keys, "token"), []byte(strings.Repeat("t", 32)), 0o600),
			os.WriteFile(filepath.Join(keys, "url"), []byte(strings.Repeat("u", 32)), 0o600))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build(dir string) error {
	files, err := write(dir, "")
	if err != nil {
		return err
	}
	return goCommand(append([]string{"build", "-ldflags=-s -w", "-o", program}, files...)...)
}

func goCommand(args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", args[0], err, out)
	}
	return nil
}

var fileOfPage = regexp.MustCompile("(?ms)^## (\\w+\\.go)[^\n]*\n.*?^```go\n(.*?)^```")

// write writes the files of the page without one of them, and without the lines that belong to it.
func write(dir, without string) (paths []string, err error) {
	page, err := os.ReadFile(filepath.Join(root, "docs/program.md"))
	if err != nil {
		return nil, err
	}
	for _, file := range fileOfPage.FindAllSubmatch(page, -1) {
		name, lines := string(file[1]), strings.SplitAfter(string(file[2]), "\n")
		if without != "" {
			lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasSuffix(line, "// "+without+"\n") })
		}
		if name == without {
			continue
		}
		paths = append(paths, filepath.Join(dir, name))
		if err := os.WriteFile(paths[len(paths)-1], []byte(strings.Join(lines, "")), 0o600); err != nil {
			return nil, err
		}
	}
	if len(paths) < 4 {
		return nil, fmt.Errorf("docs/program.md has %d files, want more: they are not found", len(paths))
	}
	return paths, nil
}

// filesOf writes the blocks of a page that are whole Go files, names them with the format and their number, and returns their paths.
func filesOf(t *testing.T, page, format string) (paths []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, found := range regexp.MustCompile("(?ms)^```go\n(package .*?)^```").FindAllSubmatch(text, -1) {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf(format, i)))
		if err := os.WriteFile(paths[i], found[1], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// TestFilesCanBeLeftOut: the program compiles without each of the files that the page calls optional.
func TestFilesCanBeLeftOut(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"cards.go", "nightly.go", "alerts.go"} {
		t.Run(file, func(t *testing.T) {
			paths, err := write(t.TempDir(), file)
			if err != nil {
				t.Fatal(err)
			}
			if err := goCommand(append([]string{"vet"}, paths...)...); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLength: main.go is what every merchant has to read.
func TestLength(t *testing.T) {
	main, err := os.ReadFile(filepath.Join(keys, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(main), "\n"); lines > 250 {
		t.Errorf("main.go has %d lines, want at most 250", lines)
	}
}

// TestOneProcess uses the program with SQLite, stops it in the middle of a payment, and looks into its database.
func TestOneProcess(t *testing.T) {
	t.Parallel()
	gateway := startGateway(t)
	seed(gateway, 700)
	file := filepath.Join(t.TempDir(), "shop.db")
	p := start(t, gateway, "", file)
	paid := p.trade(t, gateway)

	if err := gateway.Chargeback(paid[0] + "-1"); err != nil {
		t.Fatal(err)
	}
	p.output.await(t, "ERROR alert", "chargeback", paid[0])

	db := open(t, "sqlite", file)
	checkCopy(t, db, gateway)

	last := p.order(t)
	gateway.Inject(sandbox.Fault{TransactionID: last + "-1", After: time.Second})
	posted := p.postLater(t, "/orders/"+last+"/page")
	await(t, time.Minute, "a checkout", func() bool { return len(gateway.Rows(last+"-1")) == 1 })
	p.terminate(t)
	if status := <-posted; status != http.StatusSeeOther {
		t.Errorf("the request during SIGTERM got status %d", status)
	}

	checkState(t, db, last+"-1", "waiting")
	if n := p.output.errors(); n != 1 {
		t.Errorf("%d errors were logged, want 1: the alert of the chargeback", n)
	}
}

// TestTwoProcesses uses two processes with one Postgres. The one that works is killed in the middle of a payment and of the copy;
// another one takes its place.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	gateway := startGateway(t)
	seed(gateway, 3500)
	address := pgserver.Own(t).URL("public")
	db := open(t, "pgx", address)
	balancer := startBalancer(t)
	first := start(t, gateway, balancer.URL, address)
	balancer.use(first)
	lost := first.order(t)
	second := start(t, gateway, balancer.URL, address)
	second.order(t) // it stands by

	await(t, time.Minute, "a part of the copy", func() bool { return number(db, `SELECT COUNT(*) FROM gateway_orders`) > 1400 })
	gateway.Inject(sandbox.Fault{TransactionID: lost + "-1", After: time.Minute})
	first.postLater(t, "/orders/"+lost+"/page") // its response is lost with the process
	await(t, time.Minute, "a checkout", func() bool { return len(gateway.Rows(lost+"-1")) == 1 })
	first.kill(t)
	if number(db, `SELECT COUNT(*) FROM copies WHERE name = 'orders' AND position <> 'null'`) != 1 {
		t.Error("the copy was complete before the process was killed: seed more")
	}
	killed := time.Now()
	if got := second.await(t, lost, "waiting", 20*time.Second); got > 10*time.Second {
		t.Errorf("the other process reported after %v, want at most 10 s", got)
	}
	t.Logf("the other process reported %v after the first was killed", time.Since(killed).Round(100*time.Millisecond))

	for _, update := range []string{
		`UPDATE gateway_orders SET at = -1`, // a row that is copied again gets its time back
		`UPDATE copies SET due = 0`,         // a quarter of an hour later
	} {
		if _, err := db.Exec(update); err != nil {
			t.Fatal(err)
		}
	}
	third := start(t, gateway, balancer.URL, address)
	third.order(t)
	balancer.use(second, third)
	balancer.program().trade(t, gateway)
	checkCopy(t, db, gateway)
	if number(db, `SELECT COUNT(*) FROM gateway_orders WHERE at = -1`) == 0 {
		t.Error("the copy has begun again, and not continued")
	}
	if number(db, `SELECT COUNT(*) FROM cardgateway_notified`) < 3 {
		t.Error("the processes do not share a Deduper")
	}
	for _, p := range []*process{second, third} {
		p.terminate(t)
		if n := p.output.errors(); n != 0 {
			t.Errorf("%d errors were logged, want none", n)
		}
	}
}

// TestAttempts: after a decline another card pays the order, as its next attempt; a card that the gateway no longer knows is replaced in
// the same one; while one is open or paid there is no other.
func TestAttempts(t *testing.T) {
	t.Parallel()
	gateway := startGateway(t)
	file := filepath.Join(t.TempDir(), "shop.db")
	p := start(t, gateway, "", file)
	p.order(t)                                                           // it has started
	db := open(t, "sqlite", "file:"+file+"?_pragma=busy_timeout(10000)") // the program writes too
	cipher, err := cardgateway.NewTokenCipher([]byte(strings.Repeat("t", 32)))
	if err != nil {
		t.Fatal(err)
	}
	for card, token := range map[string]string{
		"good": gateway.NewToken(sandbox.Approved), "declined": gateway.NewToken(sandbox.Declined), "unknown": strings.Repeat("0", 32),
	} {
		text, err := cipher.Encrypt(cardgateway.NewToken(token), "ada "+card)
		if err == nil {
			_, err = db.Exec(`INSERT INTO cards (id, customer, token) VALUES ($1, 'ada', $2)`, card, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wantPaid := func(t *testing.T, order string, want ...int) {
		t.Helper()
		var got []int
		for i := range texts(t, db, `SELECT id FROM attempts WHERE order_id = $1`, order) {
			got = append(got, gateway.Executed(fmt.Sprintf("%s-%d", order, i+1)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("its attempts were charged %v times, want %v", got, want)
		}
	}
	button := func(order, what string) string { return "/orders/" + order + "/" + what }
	t.Run("declined, then another card in two tabs", func(t *testing.T) {
		id := p.order(t)
		p.post(t, button(id, "cards/declined"))
		p.await(t, id, "declined", time.Minute)
		tabs := []<-chan int{p.postLater(t, button(id, "cards/good")), p.postLater(t, button(id, "cards/good"))}
		for _, tab := range tabs {
			<-tab
		}
		p.await(t, id, "paid", time.Minute)
		if to := p.post(t, button(id, "cards/good")); to != "" {
			t.Errorf("a paid order has a button, which leads to %s", to)
		}
		wantPaid(t, id, 0, 1)
	})
	t.Run("the gateway does not know the card", func(t *testing.T) {
		id := p.order(t)
		p.post(t, button(id, "cards/unknown"))
		p.await(t, id, "refused", time.Minute)
		p.post(t, button(id, "cards/good"))
		p.await(t, id, "paid", time.Minute)
		wantPaid(t, id, 1)
	})
	t.Run("a page, abandoned, and finished after all", func(t *testing.T) {
		id := p.order(t)
		page := p.post(t, button(id, "page"))
		if to := p.post(t, button(id, "cards/good")); to != "" {
			t.Errorf("an order whose page is open has a button, which leads to %s", to)
		}
		if _, err := db.Exec(`UPDATE attempts SET state = 'closed' WHERE order_id = $1`, id); err != nil { // a day passes
			t.Fatal(err)
		}
		p.post(t, button(id, "cards/good"))
		p.await(t, id, "paid", time.Minute)
		wantPaid(t, id, 0, 1)
		if _, err := gateway.EnterCard(page, sandbox.TestCard(sandbox.Approved)); err != nil {
			t.Fatal(err)
		}
		p.output.await(t, "ERROR alert", "paid twice", id+"-1", id+"-2")
		wantPaid(t, id, 1, 1)
	})
}

// TestRestore: what the page says after a restore. A payment and a refund that were made after the backup are not made again, and
// both are found.
func TestRestore(t *testing.T) {
	t.Parallel()
	gateway := startGateway(t)
	dir := t.TempDir()
	file, backup := filepath.Join(dir, "shop.db"), filepath.Join(dir, "backup.db")
	p := start(t, gateway, "", file)
	unpaid, paid := p.order(t), p.order(t)
	pay := func(id string) {
		if _, err := gateway.EnterCard(p.post(t, "/orders/"+id+"/page"), sandbox.TestCard(sandbox.Approved)); err != nil {
			t.Fatal(err)
		}
		p.await(t, id, "paid", time.Minute)
	}
	pay(paid)
	if _, err := open(t, "sqlite", file).Exec(`VACUUM INTO '` + backup + `'`); err != nil {
		t.Fatal(err)
	}
	pay(unpaid)
	p.post(t, "/attempts/"+paid+"-1/refund")
	p.await(t, paid, "succeeded", time.Minute)
	p.terminate(t)

	db, steps := open(t, "sqlite", backup), pageSQL(t)
	if _, err := db.Exec(steps[0]); err != nil {
		t.Fatal(err)
	}
	p = start(t, gateway, "", backup)
	p.order(t)
	p.await(t, unpaid, "review", time.Minute)
	p.post(t, "/orders/"+unpaid+"/page")
	p.post(t, "/attempts/"+paid+"-1/refund")
	p.terminate(t)
	if moves := gateway.Moves(0); len(moves) != 3 {
		t.Errorf("money moved %d times, want 3: two payments and a refund: %+v", len(moves), moves)
	}

	// The copy was made when the program began: it does not have all that this test has just done, and may have a part.
	refundIt, list, _ := strings.Cut(steps[2], "\n")
	for _, change := range []string{
		`DELETE FROM gateway_orders`, `DELETE FROM gateway_refunds`,
		`INSERT INTO gateway_orders VALUES ('1', '` + unpaid + `-1', 100, '12.50', 'USD', 0), ('2', '` + paid + `-1', 100, '12.50', 'USD', 0)`,
		`INSERT INTO gateway_refunds VALUES ('3', '2', '` + paid + `-1', 111, '12.50', 'USD', 0)`,
		steps[1], refundIt,
	} {
		if _, err := db.Exec(change); err != nil {
			t.Fatal(err)
		}
	}
	if got := texts(t, db, strings.Replace(list, "*", "transaction_id", 1)); !slices.Equal(got, []string{unpaid + "-1"}) {
		t.Errorf("got the payments %q that the shop does not know, want %s", got, unpaid)
	}
	if got := texts(t, db, `SELECT refund FROM attempts WHERE id = $1`, paid+"-1"); !slices.Equal(got, []string{"review"}) {
		t.Errorf("the refund that was made has state %q, want review", got)
	}
}

// pageSQL returns the page's blocks of SQL.
func pageSQL(t *testing.T) (blocks []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs/program.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?ms)^```sql\n(.*?)^```").FindAllSubmatch(page, -1) {
		blocks = append(blocks, strings.TrimSpace(string(block[1])))
	}
	if len(blocks) != 3 {
		t.Fatalf("got %d blocks of SQL, want 3", len(blocks))
	}
	return blocks
}

func startGateway(t *testing.T) *sandbox.Server {
	t.Helper()
	gateway, err := sandbox.Start(sandbox.Options{
		MerchantID: "m-1", SecretKey: "test-secret", AppID: "123456", Cards: sandbox.Cards{HostedRetry: true},
		Notifications: sandbox.Notifications{Scale: 0.01},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gateway.Close() })
	return gateway
}

// seed adds orders of the last weeks, which the nightly copy must find.
func seed(gateway *sandbox.Server, n int) {
	gateway.Seed(n, time.Now().AddDate(0, 0, -20), time.Now().Add(-time.Hour))
}

// trade does what customers and staff do, presses each button twice, and checks how often money moved. It returns the orders
// that were paid.
func (p *process) trade(t *testing.T, gateway *sandbox.Server) (paid []string) {
	t.Helper()
	before := len(gateway.Moves(0))
	page := p.post(t, "/cards")
	if _, err := gateway.EnterCard(page, sandbox.TestCard(sandbox.Approved)); err != nil {
		t.Fatal(err)
	}
	var card string
	await(t, time.Minute, "a stored card", func() bool {
		card, _, _ = strings.Cut(p.get(t, "/cards"), " ")
		return card != ""
	})
	byCard, byCardLost, byPage := p.order(t), p.order(t), p.order(t)
	gateway.Inject(sandbox.Fault{TransactionID: byCardLost + "-1", Reply: sandbox.ReplyReset})
	for range 2 {
		p.post(t, "/orders/"+byCard+"/cards/"+card)
		p.post(t, "/orders/"+byCardLost+"/cards/"+card)
	}
	page = p.post(t, "/orders/"+byPage+"/page")
	p.await(t, byPage, page, time.Minute) // for a customer who has closed it
	for _, outcome := range []sandbox.Outcome{sandbox.Declined, sandbox.Approved} {
		if _, err := gateway.EnterCard(page, sandbox.TestCard(outcome)); err != nil {
			t.Fatal(err)
		}
	}
	paid = []string{byCard, byCardLost, byPage}
	for _, id := range paid {
		p.await(t, id, "paid", time.Minute)
	}
	p.post(t, "/attempts/"+byCard+"-1/refund")
	p.post(t, "/attempts/"+byCard+"-1/refund")
	p.await(t, byCard, "succeeded", time.Minute)

	for _, id := range paid {
		if n := gateway.Executed(id + "-1"); n != 1 {
			t.Errorf("%s was charged %d times, want once", id, n)
		}
	}
	if n := gateway.Refunded(byCard + "-1"); n != 1 {
		t.Errorf("%s was refunded %d times, want once", byCard, n)
	}
	if moves := gateway.Moves(before); len(moves) != 4 {
		t.Errorf("money moved %d times, want 4: three payments and a refund: %+v", len(moves), moves)
	}
	token, err := gateway.Token(card)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(p.output.String(), token) {
		t.Error("a log has the token")
	}
	return paid
}

// checkCopy waits for the nightly copy, and compares it with the gateway's rows.
func checkCopy(t *testing.T, db *sql.DB, gateway *sandbox.Server) {
	t.Helper()
	await(t, time.Minute, "complete copy", func() bool {
		return number(db, `SELECT COUNT(*) FROM copies WHERE position = 'null' AND due > 0 AND since > 1770000000000000`) == 2
	})
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

func checkState(t *testing.T, db *sql.DB, id, want string) {
	t.Helper()
	if got := texts(t, db, `SELECT state FROM attempts WHERE id = $1`, id); !slices.Equal(got, []string{want}) {
		t.Errorf("attempt %s has state %q, want %s", id, got, want)
	}
}

func texts(t *testing.T, db *sql.DB, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
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

func open(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func await(t *testing.T, most time.Duration, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(most); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within %v", what, most)
		}
	}
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
	b.Server = httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
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

// program returns all processes behind the balancer as if they were one.
func (b *balancer) program() *process {
	return &process{url: b.URL, output: (*b.processes.Load())[0].output}
}
