package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	reconcile "github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/match"
)

// Reconcile is how a shop reconciles: with a copy of its gateway's orders and refunds, and lists of what it has stored itself.
// One row in so many is shown in the searches of the copy as the interface allows; zero: none.
type Reconcile struct {
	Kept         bool
	Since        time.Duration // the copy begins so long after the world; zero: an hour before it
	NoRefundList bool
	OtherApp     int // payments that state another app
	NoTime       int // refunds without a time
	NoCurrency   int // refunds without a currency
	SameID       int // refunds whose id is that of others
	BareDeclines bool
}

// Compare is one comparison of the lists with the copy.
type Compare struct {
	Back   time.Duration // the period ends so long before the end of the copy
	Length time.Duration // zero: from the beginning of the copy
	AtRow  bool          // the period begins and ends in the second of a row
	Grace  time.Duration
	AnyApp bool
}

// reconciles are the books of the shops. Each is used by one step at a time.
type reconciles struct {
	w     *world
	dir   string
	books map[*shop]*copied
}

func newReconciles(w *world) *reconciles { return &reconciles{w: w, books: make(map[*shop]*copied)} }

func (x *reconciles) do(s *Step) (do func(), ok bool) {
	made := map[string]func(*call, *copied){"books: sync": x.sync, "books: import": x.importLists, "books: compare": x.compare}[s.Do]
	if made == nil {
		return nil, false
	}
	of := x.w.shopOf(s)
	if !of.config.Reconcile.Kept {
		return nil, true
	}
	p := x.program(of)
	return x.w.call(s, p, func(c *call) {
		defer p.cancel()
		k := x.of(of)
		if k.isOpen {
			x.openAgain(k)
			return
		}
		k.isOpen = true
		defer func() { k.isOpen = false }()
		made(c, k)
	}), true
}

// program returns one run of the program that keeps the books of a shop. Its clock is right, and it has no journal.
func (x *reconciles) program(s *shop) *process {
	p := x.w.newProcess(s, len(s.processes), Settings{MaxAttempts: s.config.Settings.MaxAttempts})
	p.store = new(contacts)
	return p
}

// of returns the books of a shop.
func (x *reconciles) of(s *shop) *copied {
	k := x.books[s]
	if k != nil {
		return k
	}
	if x.dir == "" {
		x.dir = makeDir()
		x.w.ends = append(x.w.ends, x.end)
	}
	k = &copied{shop: s, driver: "sqlite", lists: make(map[reconcile.Kind]*list)}
	k.database = filepath.Join(x.dir, fmt.Sprintf("books %d.db", len(x.books)))
	if x.w.h.World.Store == "postgres" {
		schema := fmt.Sprintf("w%d_%d_books%d", os.Getpid(), x.w.h.Seed, len(x.books))
		if err := administer("CREATE SCHEMA " + schema); err != nil {
			panic(err)
		}
		k.database, k.driver, k.schema = Postgres.URL(schema), "pgx", schema
	}
	x.books[s] = k
	return k
}

// open opens the books. It returns nil if the process was killed meanwhile.
func (x *reconciles) open(c *call, k *copied) *reconcile.Books {
	b, err := reconcile.Open(c.process.ctx, k.database)
	if err != nil {
		if !c.process.isDead() {
			x.w.violate("books can be opened", "%s: %v", k.shop.name, err)
		}
		return nil
	}
	return b
}

// openAgain opens the books while another step has them open.
func (x *reconciles) openAgain(k *copied) {
	b, err := reconcile.Open(context.Background(), k.database)
	if err == nil {
		_ = b.Close()
	}
	if !errors.Is(err, reconcile.ErrInUse) && k.isOpen {
		x.w.violate("books are open once", "%s: opened twice, %v", k.shop.name, err)
	}
}

func (x *reconciles) close(k *copied, b *reconcile.Books) {
	if err := b.Close(); err != nil {
		x.w.violate("books can be closed", "%s: %v", k.shop.name, err)
	}
}

// sync updates the copy once. The step's N says that rows are deleted that the gateway no longer shows, however many; the query
// "stopped" stops the program after QueryTimes answers.
func (x *reconciles) sync(c *call, k *copied) {
	w, p := x.w, c.process
	ctx, cancel := c.context()
	defer cancel()
	c.endsByError = true // a walk has goroutines that fetch
	b := x.open(c, k)
	if b == nil {
		return
	}
	time.Sleep(time.Millisecond) // so that it is known which changes an update has recorded
	k.begun, k.shown = time.Now(), make(map[rowKey][]copiedRow)
	if k.since.IsZero() {
		k.since = minTime(w.begun.Add(k.shop.config.Reconcile.Since), time.Now()).Add(-time.Hour).Truncate(time.Second)
	}
	wire := &bookkeeper{process: p, copied: k}
	if c.step.Query == "stopped" {
		wire.stop, wire.left = cancel, c.step.QueryTimes
	}
	client, err := cardgateway.New(p.config(wire, k.location()))
	if err != nil {
		panic(err)
	}
	report, err := b.Sync(ctx, reconcile.SyncOptions{Client: client, From: k.since, AcceptGone: c.step.N > 0})
	w.tell("%s: the copy is updated: %+v, %v", p.name(), report, err)
	info, failed := b.Info(context.Background())
	x.close(k, b)
	if failed != nil {
		w.violate("books can be read", "%s: %v", k.shop.name, failed)
		return
	}
	if wire.files != nil { // killed: what it wrote after that was not written
		w.tell("%s: was killed meanwhile", p.name())
		k.restore(wire.files)
		err = context.Canceled
	}
	w.searchError("an error of Sync", err)
	x.checkSync(c, k, syncResult{report, info, err, wire.files != nil})
}

// bookkeeper is the network of a program that updates the copy. It notes what the gateway shows.
type bookkeeper struct {
	*process
	copied *copied
	files  map[string][]byte  // of the database when the process was killed; nil before
	stop   context.CancelFunc // after so many queries are left; nil: never
	left   int
}

func (k *bookkeeper) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := k.process.RoundTrip(r)
	if k.isDead() && k.files == nil {
		k.files = k.copied.files()
	}
	if err != nil || resp.Body == nil {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), cutReader{}))
		return resp, nil
	}
	body = k.copied.show(body, r.URL.Path)
	if k.left--; k.stop != nil && k.left == 0 {
		k.stop()
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// compare compares the lists with the copy, and what is found with what is expected.
func (x *reconciles) compare(c *call, k *copied) {
	if k.lists[reconcile.Payment] == nil || k.rows == nil {
		return
	}
	b := x.open(c, k)
	if b == nil {
		return
	}
	defer x.close(k, b)
	ctx := context.Background()
	info, err := b.Info(ctx)
	if err != nil || !info.Since.Before(info.CompleteUpTo) {
		return
	}
	config := c.step.Compare
	b.AnyApp = config.AnyApp
	o := match.Options{Copy: match.Span{From: info.Since, To: info.CompleteUpTo}, Now: time.Now(), Grace: config.Grace}
	o.Period = k.period(config, o.Copy)
	want := k.differences(config, o.Period, o.Copy)
	for kind, list := range map[reconcile.Kind]*match.List{reconcile.Payment: &o.Payments, reconcile.Refund: &o.Refunds} {
		if k.lists[kind] == nil {
			continue
		}
		first, last, err := b.ListSpan(ctx, kind)
		span := want.spans[kind]
		if err != nil || !first.Equal(span.From) || !first.IsZero() && !last.Add(time.Second).Equal(span.To) {
			x.w.violate("a comparison finds what differs, and nothing else", "%s: the list spans %v to %v, not %+v: %v", k.shop.name, first, last, span, err)
			return
		}
		list.Read, list.Span = true, span
	}
	got := newDifferences()
	o.Found = func(d *match.Difference) error {
		got.add(d.Kind, string(d.Class), d.ID, d.Currency, cents(d.Value))
		return nil
	}
	o.EachRow = func(kind reconcile.Kind, r *reconcile.Row) { got.given[string(kind)+" "+r.UniqueID+" "+r.ID]++ }
	sums, err := match.Run(ctx, b, o)
	if err != nil {
		x.w.violate("a comparison comes to its end", "%s: %v", k.shop.name, err)
		return
	}
	for _, bridge := range sums.Bridges {
		if left := bridge.LeftOver(); !left.IsZero() {
			x.w.violate("a bridge leaves nothing over", "%s: %v %s of %+v", k.shop.name, left, bridge.Currency, bridge)
		}
		key := string(bridge.Kind) + " " + bridge.Currency
		got.gateway[key], got.listed[key] = cents(bridge.Gateway), cents(bridge.Books)
	}
	x.w.tell("%s: %v to %v is compared: %v", k.shop.name, o.Period.From, o.Period.To, got.found)
	if diff := want.unlike(got); diff != "" && !x.w.isBroken() {
		x.w.violate("a comparison finds what differs, and nothing else", "%s, %v to %v, %+v: %s", k.shop.name, o.Period.From, o.Period.To, config, diff)
	}
}

// period returns the period of a comparison.
func (k *copied) period(config Compare, of match.Span) match.Span {
	p := match.Span{From: of.From, To: of.To.Add(-config.Back)}
	if config.Length > 0 {
		p.From = p.To.Add(-config.Length)
	}
	if config.AtRow { // the latest before each bound
		var from, to time.Time
		for _, r := range k.rows {
			if at := r.time(); at.Before(p.From) {
				from = maxTime(from, at)
			} else if at.Before(p.To) {
				to = maxTime(to, at)
			}
		}
		p = match.Span{From: from, To: to}
	}
	if p.From = maxTime(p.From, of.From); !p.From.Before(p.To) {
		return of
	}
	return p
}

func (x *reconciles) plan(d *draw, h *History) {
	if !d.chance(3) {
		return
	}
	var steps []Step
	for i := range h.World.Shops {
		if i > 0 && d.chance(2) {
			continue
		}
		config := Reconcile{Kept: true, NoRefundList: d.chance(8), BareDeclines: d.chance(3)}
		if d.chance(4) {
			config.Since = d.between(time.Hour, 10*day)
		}
		if d.chance(3) {
			config.OtherApp = 2 + d.IntN(6)
		}
		if d.chance(3) {
			config.NoTime = 1 + d.IntN(4)
		}
		if d.chance(3) {
			config.NoCurrency = 1 + d.IntN(3)
		}
		if d.chance(2) {
			config.SameID = 1 + d.IntN(3)
		}
		h.World.Shops[i].Reconcile = config
		var things, refunded []int
		for n, t := range h.Things {
			if t.Shop == i {
				things = append(things, n)
			}
			if t.Shop == i && t.Op == opRefund {
				refunded = append(refunded, t.Of)
			}
		}
		for range one(d, 2, 4, 8) {
			for _, step := range d.bookkeeping(things, refunded) {
				step.Shop = i
				steps = append(steps, step)
			}
		}
	}
	h.scatter(d, steps)
	for i := range h.World.Shops {
		if h.World.Shops[i].Reconcile.Kept && d.chance(2) {
			h.Steps = slices.Insert(h.Steps, d.IntN(len(h.Steps)+1), d.refundedInTwoPeriods(h, i)...)
		}
	}
}

// refundedInTwoPeriods draws two refunds of a payment, and the comparison of a period that begins between them. The gateway shows the
// first one with more than was paid, so that the second one is above the payment together with it, and not alone.
func (d *draw) refundedInTwoPeriods(h *History, shop int) []Step {
	payment, first, second := len(h.Things), len(h.Things)+1, len(h.Things)+2
	h.Things = append(h.Things,
		Thing{Shop: shop, Op: "TokenPayment"},
		Thing{Shop: shop, Op: opRefund, Of: payment, Amount: "0.70"}, Thing{Shop: shop, Op: opRefund, Of: payment, Amount: "0.50"})
	between, after := d.between(time.Hour, 3*day), d.between(2*walkLag, 4*walkLag)
	steps := []Step{
		{Do: "pay", Thing: payment, Ack: true, After: time.Second},
		{Do: "settle", Thing: payment},
		{Do: "pay", Thing: first, Ack: true, After: d.between(time.Second, day)},
		{Do: "settle", Thing: first},
		{Do: "disguise", Thing: first, Text: "other amount", Delay: between + 2*after},
		{Do: "pay", Thing: second, Ack: true, After: between},
		{Do: "settle", Thing: second},
		{Do: "books: sync", N: 1, After: after},
		{Do: "books: import"},
		{Do: "books: compare", Compare: Compare{Length: between/2 + after - walkLag, AnyApp: d.chance(2)}},
	}
	for i := range steps {
		steps[i].Shop, steps[i].Seed = shop, d.Uint64()%1000
	}
	return steps
}

// bookkeeping draws steps that follow each other: something is paid again, the gateway shows something in another way, the copy is
// updated, lists are read, and a few periods are compared.
func (d *draw) bookkeeping(things, refunded []int) (steps []Step) {
	thing := func() int { return things[min(d.IntN(len(things)), d.IntN(len(things)))] } // the first ones are there longer
	if d.chance(2) && len(things) > 0 {                                                  // a second row with the same id
		steps = append(steps, Step{Do: "pay again", Thing: thing(), Ack: true})
	}
	if d.chance(2) && len(things) > 0 {
		steps = append(steps, Step{
			Do: "disguise", Thing: thing(), Delay: d.between(time.Hour, 60*time.Hour),
			Text: one(d, "hidden", "hidden", "no id", "no id", "no amount", "other amount", "unlisted code", "displaced", "came back"),
		})
	}
	if d.chance(3) && len(refunded) > 0 {
		steps = append(steps, Step{Do: "disguise", Thing: one(d, refunded...), Delay: d.between(day, 30*day), Text: "unlisted code"})
	}
	sync := Step{Do: "books: sync", N: d.IntN(2)}
	switch d.IntN(8) {
	case 0:
		sync.DieAt = 1 + d.IntN(30)
	case 1:
		sync.Query, sync.QueryTimes = one(d, "dropped", "500", "html", "429", "cut", "no body"), 1+d.IntN(6)
	case 2:
		sync.With = 1 + d.IntN(3) // while other things happen
	case 3:
		sync.Query, sync.Timeout = "429", d.between(time.Millisecond, time.Minute)
	case 4:
		sync.Query, sync.QueryTimes = "stopped", 1+d.IntN(12)
	}
	if steps = append(steps, sync); sync.With == 0 && !d.chance(3) {
		steps = append(steps, Step{Do: "books: import", Text: one(d, append(mistakes, "any", "any", "any", "any", "any")...), N: one(d, 0, 1, 2, 3, 5)})
		for range 1 + d.IntN(3) {
			c := Compare{Grace: one(d, 0, 0, time.Hour, 48*time.Hour), AtRow: d.chance(3), AnyApp: d.chance(3)}
			if d.chance(2) {
				c.Length = d.between(time.Hour, 20*day)
			}
			if d.chance(2) {
				c.Back = d.between(time.Hour, 20*day)
			}
			steps = append(steps, Step{Do: "books: compare", Compare: c})
		}
	}
	steps[0].After = d.between(time.Second, time.Hour)
	for i := range steps {
		steps[i].Seed = d.Uint64() % 1000
	}
	return steps
}

// rest updates each copy once more, and compares the whole of it with lists without a mistake and with some.
func (x *reconciles) rest() {
	w := x.w
	for i, s := range w.shops {
		if !s.config.Reconcile.Kept || w.isBroken() {
			continue
		}
		for _, step := range []Step{
			{Do: "books: sync", N: 1}, {Do: "books: import"}, {Do: "books: compare"}, {Do: "books: import", Text: "any", N: 3}, {Do: "books: compare"},
		} {
			step.Shop = i
			if call, _ := x.do(&step); call != nil {
				w.runAlone(call)
			}
		}
		if k := x.of(s); k.failed && !w.isBroken() {
			w.violate("a copy is updated once the gateway answers", "that of %s was not", s.name)
		}
		for name, text := range x.of(s).files() {
			w.searchSecrets("the file "+name, text)
		}
	}
}

func (x *reconciles) end() {
	for _, k := range x.books {
		if k.schema != "" {
			_ = administer("DROP SCHEMA " + k.schema + " CASCADE")
		}
	}
	_ = os.RemoveAll(x.dir)
}
