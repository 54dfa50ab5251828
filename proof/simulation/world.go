package simulation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// world carries out a History.
type world struct {
	h         *History
	begun     time.Time
	scheduler scheduler
	medium    medium
	leases    *journal.MemoryStore // of the shops with Replicas
	shops     []*shop
	things    []*thing
	actors    []actor
	ends      []func() // what actors have to do when the world ends
	logger    *slog.Logger
	secrets   [][]byte
	backup    *backup
	clocks    time.Duration // by how much the times that two processes write can differ

	mu       sync.Mutex
	over     bool
	telling  bool // the story is wanted
	story    []string
	broken   []Violation
	touched  map[*thing]bool
	current  int  // step
	together bool // several calls are under way
}

// stepsTaken counts the steps of all histories, and asked is the virtual time of the last call of a store, for whoever watches from
// outside of virtual time.
var stepsTaken, asked atomic.Int64

// Violation is a broken promise.
type Violation struct {
	Promise string
	Text    string
	Step    int // the index of the step after which it was noticed; the number of steps if the world was at rest
}

// Result is what came of a history.
type Result struct {
	Broken []Violation
	Steps  int
	Days   float64 // of virtual time
	Story  []string
}

// shop is a merchant, with what it has in its own database.
type shop struct {
	name      string
	config    Shop
	gateway   *gateway
	processes []*process
	mail      mailbox
	byID      map[journal.ID]*thing
	post      string     // fate of every request that moves money and has none of its own
	query     string     // and of every query
	settings  []Settings // every one that a process has had
	replicas  shopReplicas
}

func (s *shop) appID() cardgateway.AppID { return cardgateway.AppID(cmp.Or(s.config.AppID, "7")) }

func (s *shop) base() string { return cmp.Or(s.config.Base, "https://gw.test") }

// inJournal is the shop as the journal names it.
func (s *shop) inJournal() journal.Shop { return journal.Shop{Gateway: s.base(), AppID: s.appID()} }

// process returns the n-th process.
func (s *shop) process(n int) *process { return s.processes[n%len(s.processes)] }

// disguised reports whether any row of the shop may be disguised now.
func (s *shop) disguised() bool {
	for _, t := range s.byID {
		if time.Now().Before(t.disguisedUntil) {
			return true
		}
	}
	return false
}

func (w *world) thing(n int) *thing { return w.things[n%len(w.things)] }

// thingOfRequest returns what a request is about.
func (w *world) thingOfRequest(s *shop, r *http.Request, body []byte) *thing {
	if r.Method == http.MethodGet {
		if id := r.URL.Query().Get("refundTransactionId"); id != "" {
			return s.byID[journal.RefundID(id)]
		}
		return s.byID[journal.PaymentID(r.URL.Query().Get("transactionId"))]
	}
	before, rest, _ := strings.Cut(string(body), `ransactionId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return s.byID[journal.ID{Text: id, Refund: strings.HasSuffix(before, "refundT")}]
}

// Run carries out a history, and stops at the first broken promise.
func Run(t *testing.T, h *History, telling bool) (result Result) {
	cryptotest.SetGlobalRandom(t, h.Seed)
	defer func() {
		if r := recover(); r != nil { // synctest's: goroutines are left that nothing can wake
			result.Broken = append(result.Broken, Violation{"every goroutine ends", fmt.Sprint(r), len(h.Steps)})
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		w := &world{h: h, begun: time.Now(), telling: telling, touched: make(map[*thing]bool)}
		w.build()
		defer w.end()
		steps := 0
		for steps < len(h.Steps) && !w.isBroken() {
			steps = w.take(steps)
		}
		if !w.isBroken() {
			w.current = len(h.Steps)
			w.rest()
		}
		result = Result{w.broken, steps, time.Since(w.begun).Hours() / 24, w.story}
	})
	return result
}

// build makes everything that exists before the first step.
func (w *world) build() {
	h := w.h
	w.clocks = h.clocks()
	w.scheduler.wake = make(chan struct{}, 1)
	w.logger = w.newLogger()
	w.secrets = append(w.secrets, []byte(cardNumber), []byte(secretKey), []byte(basicSecret), []byte(escaped(basicSecret)))
	w.medium, w.leases = newMedium(h.World.Store, h.Seed), journal.NewMemoryStore()
	for i := range max(len(h.World.Shops), 1) {
		s := &shop{name: fmt.Sprintf("shop %d", i), byID: make(map[journal.ID]*thing)}
		if len(h.World.Shops) > 0 {
			s.config = h.World.Shops[i]
		}
		s.gateway = w.newGateway(s, mix(h.Seed, uint64(i)))
		s.processes = make([]*process, max(s.config.Processes, 1))
		w.shops = append(w.shops, s)
	}
	for i, thing := range h.Things {
		w.addThing(i, thing)
	}
	for _, s := range w.shops {
		for n := range s.processes {
			w.start(s, n, s.config.Settings)
		}
	}
	w.actors = newActors(w)
}

// take carries out the step with this index and those that happen at the same time, and returns the index of the next.
func (w *world) take(i int) int {
	first := &w.h.Steps[i]
	if first.After > 0 {
		w.scheduler.sleep(first.After)
		w.check() // what happened meanwhile
	}
	var calls []func()
	end := min(i+1+first.With, len(w.h.Steps))
	alone := first.With == 0
	for ; i < end; i++ {
		s := &w.h.Steps[i]
		w.current = i
		for _, a := range w.actors {
			if call, ok := a.do(s); ok {
				if call != nil {
					calls = append(calls, call)
				}
				alone = alone && !strings.HasPrefix(s.Do, "recover") && s.Do != "walk"
				break
			}
		}
	}
	stepsTaken.Add(1)
	w.together = len(calls) > 1 || w.scheduler.background > 0
	if len(calls) > 0 {
		w.scheduler.setOn(!alone)
		w.scheduler.run(mix(first.Seed, 1), calls)
		w.scheduler.setOn(false)
	}
	w.check()
	return i
}

// call returns a function that makes one call of the library in a process.
func (w *world) call(s *Step, p *process, do func(*call)) func() {
	if p.isDead() {
		return nil
	}
	return func() {
		c := &call{process: p, step: s}
		begun := time.Now()
		defer func() {
			if r := recover(); r != nil {
				w.violate("the library does not panic", "%s of %s panics: %v", s.Do, p.name(), r)
			}
		}()
		do(c)
		if !p.isDead() {
			c.ended(time.Since(begun))
		}
	}
}

// callAbout is call for a step that is about a thing, in a process of its shop.
func (w *world) callAbout(s *Step, do func(*call, *thing)) func() {
	t := w.thing(s.Thing)
	return w.call(s, t.shop.process(s.Process), func(c *call) { do(c, t) })
}

// runAlone makes a call while nothing else happens.
func (w *world) runAlone(call func()) { w.scheduler.run(1, []func(){call}) }

// end ends everything that runs in the world.
func (w *world) end() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	for _, end := range w.ends {
		end()
	}
	for _, s := range w.shops {
		for _, p := range s.processes {
			p.kill()
		}
	}
	w.scheduler.setOn(false)
	for {
		synctest.Wait()
		if !w.scheduler.release() {
			break
		}
	}
	for _, s := range w.shops {
		s.gateway.sandbox.Close()
	}
	w.medium.end()
}

func (w *world) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

func (w *world) isBroken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.broken) > 0
}

// violate reports a broken promise.
func (w *world) violate(promise, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	text := fmt.Sprintf(format, args...)
	w.broken = append(w.broken, Violation{promise, text, w.current})
	if w.telling {
		w.story = append(w.story, fmt.Sprintf("%s BROKEN: %s: %s", w.clock(), promise, text))
	}
}

// tell adds a sentence to the story.
func (w *world) tell(format string, args ...any) {
	if !w.telling {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.story = append(w.story, w.clock()+" "+fmt.Sprintf(format, args...))
	}
}

// clock returns the time since the beginning.
func (w *world) clock() string {
	d := time.Since(w.begun)
	return fmt.Sprintf("day %d %02d:%02d:%02d.%03d", int(d.Hours())/24, int(d.Hours())%24, int(d.Minutes())%60, int(d.Seconds())%60, d.Milliseconds()%1000)
}

// searchSecrets looks for secrets in something that was stored, logged or told.
func (w *world) searchSecrets(where string, b []byte) {
	for _, s := range w.secrets {
		if bytes.Contains(b, s) {
			w.violate("no secret is stored, logged or told", "%s has %q", where, s)
			return
		}
	}
}

// searchStored looks for secrets in what is stored.
func (w *world) searchStored(what string, v json.Marshaler) {
	if b, err := v.MarshalJSON(); err == nil {
		w.searchSecrets(what, b)
	}
}

// touch remembers that an entry may have changed.
func (w *world) touch(key journal.Key) {
	t := w.thingOfKey(key)
	if t == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touched[t] = true
}

func (w *world) thingOfKey(key journal.Key) *thing {
	for _, s := range w.shops {
		if s.inJournal() == key.Shop {
			return s.byID[key.ID]
		}
	}
	return nil
}

// must returns a value that can always be made here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

const (
	secretKey   = "sk-7f3a9c1e5b2d4860"
	basicSecret = "bWVyY2hhbnQ6c2stN2YzYTljMWU1YjJkNDg2MA=="
)

var cardNumber = sandbox.TestCard(sandbox.Approved).Number
