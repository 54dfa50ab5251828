package journal_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// shop is a merchant with a journal, and an in-memory gateway, in virtual time.
type shop struct {
	t       *testing.T
	gateway *sandbox.Gateway
	client  *cardgateway.Client
	store   journal.Store
	*journal.Journal
	sent    atomic.Int32 // payments that reached the gateway
	refuse  error        // if set, every connection fails with it
	network http.RoundTripper
}

// inBubble runs a test with a shop of its own in virtual time.
func inBubble(t *testing.T, opts sandbox.Options, test func(*testing.T, *shop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts.NoNotifications = true
		s := &shop{t: t, gateway: sandbox.New(opts), store: journal.NewMemoryStore()}
		defer s.gateway.Close()
		s.network = s.gateway.RoundTripper()
		s.setHostedPageLifetime(0)
		test(t, s)
	})
}

// runInBubble runs inBubble as a subtest.
func runInBubble(t *testing.T, name string, opts sandbox.Options, test func(*testing.T, *shop)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { inBubble(t, opts, test) })
}

// newClient returns a client of the shop's gateway, with a config that can be changed.
func (s *shop) newClient(change func(*cardgateway.Config)) *cardgateway.Client {
	s.t.Helper()
	cfg := cardgateway.Config{BaseURL: "https://gateway.test", AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: s}}
	change(&cfg)
	client, err := cardgateway.New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

// live is a config of a shop that takes real money.
func live(cfg *cardgateway.Config) { cfg.TestPayments = false }

// begins stores the intent of a subscription, as a process does whose clock shows at.
func (s *shop) begins(t *testing.T, req *cardgateway.SubscriptionRequest, at time.Time) journal.Intent {
	t.Helper()
	in := journal.Intent{
		Shop: s.Shop(), ID: journal.PaymentID(req.TransactionID), OrderID: req.OrderID, Operation: "CreateSubscription", Amount: req.Amount,
		Currency: req.Currency, At: at, Sender: "x",
	}
	if _, _, err := s.store.Begin(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return in
}

// setHostedPageLifetime gives the shop a client with this lifetime, and a journal that uses it.
func (s *shop) setHostedPageLifetime(lifetime time.Duration) {
	s.client = s.newClient(func(cfg *cardgateway.Config) { cfg.HostedPageLifetime = lifetime })
	s.Journal = s.restarted(journal.Options{})
}

// restarted returns a journal over the same store, as a new process or another process would have it.
func (s *shop) restarted(opts journal.Options) *journal.Journal {
	return journal.New(s.client, s.store, opts)
}

func (s *shop) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.refuse != nil {
		return nil, s.refuse
	}
	if r.Method == http.MethodPost {
		s.sent.Add(1)
	}
	return s.network.RoundTrip(r)
}

const (
	approved   = "123"
	pending    = "650"
	challenged = "700" // by 3D
	declined   = "900"
)

func (s *shop) pay(id, cvv string) (*cardgateway.Transaction, error) {
	return s.CreateSubscription(context.Background(), order(id, cvv))
}

// recovered returns everything that Recover yields.
func recovered(t *testing.T, j *journal.Journal) []journal.Entry {
	t.Helper()
	var all []journal.Entry
	for e, err := range j.Recover(context.Background()) {
		if err != nil {
			t.Fatalf("Recover: %v", err)
		}
		all = append(all, e)
	}
	return all
}

// states returns the states that Recover reports, by transactionId.
func states(t *testing.T, j *journal.Journal) map[string]string {
	t.Helper()
	return statesOf(t, j, false)
}

// statesOf returns the states that Recover reports, by the ids of the payments or the refunds. The others are under "".
func statesOf(t *testing.T, j *journal.Journal, refunds bool) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, e := range recovered(t, j) {
		text := e.State().String()
		if id := e.ID(); id.Refund == refunds {
			all[id.Text] = text
		} else {
			all[""] = text
		}
	}
	return all
}

func wantStates(t *testing.T, j *journal.Journal, want map[string]string) {
	t.Helper()
	if got := states(t, j); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Recover reports %v, want %v", got, want)
	}
}

// succeeds checks the error of a call that is to have none. It does not end the test, so any goroutine may call it.
func succeeds(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// key names an entry of the shop.
func key(id string) journal.Key {
	return journal.Key{Shop: journal.Shop{Gateway: "https://gateway.test", AppID: "7"}, ID: journal.PaymentID(id)}
}

// outcomeOf returns the outcome of a payment.
func outcomeOf(e journal.Entry) (got *cardgateway.Transaction, err error) {
	err = e.Outcome(func(t *cardgateway.Transaction, err error) error {
		got = t
		return err
	}, nil)
	return got, err
}

// stored returns the entry of a payment in the store, as another process would read it.
func (s *shop) stored(id string) *journal.Entry {
	s.t.Helper()
	e, err := s.restarted(journal.Options{}).Get(s.t.Context(), journal.PaymentID(id))
	if err != nil {
		s.t.Fatal(err)
	}
	return &e
}

// refusing is a network on which no query may be sent.
type refusing struct {
	t *testing.T
	http.RoundTripper
}

func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	r.t.Errorf("the gateway was queried: %s %s", req.Method, req.URL.Path)
	return r.RoundTripper.RoundTrip(req)
}

func wantExecuted(t *testing.T, s *shop, id string, want int) {
	t.Helper()
	if got := s.gateway.Executed(id); got != want {
		t.Errorf("the gateway charged %s %d times, want %d", id, got, want)
	}
}

// TestNewRefuses: New panics without a client or a store.
func TestNewRefuses(t *testing.T) {
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "https://gateway.example", AppID: "1", TestPayments: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(){
		"no client": func() { journal.New(nil, journal.NewMemoryStore(), journal.Options{}) },
		"no store":  func() { journal.New(client, nil, journal.Options{}) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "needs a client and a store") {
					t.Errorf("%s: got %s", name, got)
				}
			}()
			make()
		}()
	}
}

// TestRepeatedCall calls again with the same transactionId, also after the acknowledgement and in another process: the
// outcome is the same, and nothing is sent.
func TestRepeatedCall(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		want, err := s.pay("a", approved)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range []*journal.Journal{s.Journal, s.restarted(journal.Options{})} {
			got, err := j.CreateSubscription(t.Context(), order("a", approved))
			if err != nil || got.UniqueID != want.UniqueID || got.Code != want.Code || !got.TransactionAmount.Equal(want.TransactionAmount) {
				t.Errorf("called again: %+v, %v; want %+v", got, err, want)
			}
			succeeds(t, j.Ack(t.Context(), journal.PaymentID("a"), journal.StateOf(got, err)))
		}
		_, err = s.pay("b", declined)
		if _, again := s.pay("b", declined); !errors.Is(again, cardgateway.ErrDeclined) {
			t.Errorf("called again after %v: %v", err, again)
		}
		if n := s.sent.Load(); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
	})
}

func TestSingleFlight(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, After: 3 * time.Second})
		other := s.restarted(journal.Options{})
		ids := make([]string, 100)
		var wg sync.WaitGroup
		for i := range ids {
			j := s.Journal
			if i%2 == 1 {
				j = other
			}
			wg.Go(func() {
				got, err := j.CreateSubscription(context.Background(), order("a", approved))
				if err != nil || got.State() != cardgateway.StateApproved {
					t.Errorf("caller %d: %v", i, err)
					return
				}
				ids[i] = got.UniqueID
			})
		}
		wg.Wait()
		if n := len(slices.Compact(ids)); n != 1 {
			t.Errorf("%d different outcomes", n)
		}
		if n := s.sent.Load(); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

// TestElsewhere makes a call while another process has the payment in flight for longer than WaitElsewhere.
func TestElsewhere(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, After: 20 * time.Second})
		go func() { _, _ = s.pay("a", approved) }()
		synctest.Wait()
		begun := time.Now()
		_, err := s.restarted(journal.Options{}).CreateSubscription(t.Context(), order("a", approved))
		if !errors.Is(err, cardgateway.ErrOutcomeUnknown) || !errors.Is(err, journal.ErrOpen) {
			t.Errorf("got %v, want an unknown outcome with ErrOpen", err)
		}
		if waited := time.Since(begun); waited < 5*time.Second || waited > 6*time.Second {
			t.Errorf("waited %v", waited)
		}
		if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); !ok || unknown.TransactionID != "a" {
			t.Errorf("got %v, want the payment's id in it", err)
		}
		usual := s.network
		s.network = refusing{t, s.network}
		wantStates(t, s.Journal, nil) // it is left to its own caller
		s.network = usual
		time.Sleep(20 * time.Second)
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
		wantExecuted(t, s, "a", 1)
	})
}

// TestMismatch: another payment under an id that is recorded is not sent, and is no invalid request. TestSame shows what makes it another one.
func TestMismatch(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		_, _ = s.pay("a", approved)
		another := order("a", approved)
		another.Currency = "EUR"
		_, err := s.CreateSubscription(t.Context(), another)
		if _, ok := errors.AsType[*journal.MismatchError](err); !ok || errors.Is(err, cardgateway.ErrInvalidRequest) || s.sent.Load() != 1 {
			t.Errorf("got %v and %d requests, want a *MismatchError, and one", err, s.sent.Load())
		}
	})
}
