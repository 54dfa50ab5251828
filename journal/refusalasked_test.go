package journal_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestAfterRefusalAsksEverywhere: submissions that are far apart have separate queries. If one of them fails, nothing is
// sent.
func TestAfterRefusalAsksEverywhere(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		day := 24 * time.Hour
		begun := time.Now()
		s.gateway.Inject(refusal)
		_, _ = s.pay("a", approved)
		time.Sleep(15 * day)
		s.gateway.Inject(refusal)
		if _, err := s.AfterRefusal().CreateSubscription(t.Context(), order("a", approved)); !errors.Is(err, cardgateway.ErrRefused) {
			t.Fatal(err)
		}
		time.Sleep(15 * day)
		usual := s.network
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			if start := r.URL.Query().Get("startDate"); start != "" && start < begun.Add(day).UTC().Format(time.DateTime) {
				return nil, errors.New("no answer")
			}
			return usual.RoundTrip(r)
		})
		sent := s.sent.Load()
		if _, err := s.AfterRefusal().CreateSubscription(t.Context(), order("a", approved)); !errors.Is(err, cardgateway.ErrNotSent) || s.sent.Load() != sent {
			t.Errorf("got %v and %d requests, want ErrNotSent and none", err, s.sent.Load()-sent)
		}
	})
}

// TestAfterRefusalInTheFuture: a refusal that was recorded with a clock far ahead cannot be queried, and is not sent
// again.
func TestAfterRefusalInTheFuture(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		req := order("a", approved)
		in := s.begins(t, &req, time.Now().Add(20*time.Hour))
		refused := journal.Evidence{At: in.At, Source: journal.SourceAnswer, State: journal.Refused, Sender: "x", HTTPStatus: 401}
		succeeds(t, s.store.Record(t.Context(), in.Key(), 0, refused))
		if _, err := s.AfterRefusal().CreateSubscription(t.Context(), req); !errors.Is(err, cardgateway.ErrNotSent) || s.sent.Load() != 0 {
			t.Errorf("got %v and %d requests, want ErrNotSent and none", err, s.sent.Load())
		}
	})
}

// TestAfterRefusalAsksWhatIsRefusedMeanwhile: another process submits the payment while AfterRefusal waits for it. The
// gateway refuses what it has executed, so it is queried before anything is sent again.
func TestAfterRefusalAsksWhatIsRefusedMeanwhile(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		other := journal.New(s.client, s.store, journal.Options{})
		untrue := refusal
		untrue.Commit, untrue.After = sandbox.CommitNow, time.Second
		s.gateway.Inject(untrue)
		ended := make(chan error)
		go func() {
			_, err := other.CreateSubscription(t.Context(), order("a", approved))
			ended <- err
		}()
		time.Sleep(time.Millisecond)
		got, err := s.AfterRefusal().CreateSubscription(t.Context(), order("a", approved))
		if first := <-ended; !errors.Is(first, cardgateway.ErrRefused) {
			t.Errorf("the first call: got %v, want a refusal", first)
		}
		if n := s.gateway.Executed("a"); n != 1 || !errors.Is(err, cardgateway.ErrConflict) {
			t.Errorf("charged %d times; got %+v, %v; want once, and a conflict", n, got, err)
		}
	})
}

// page returns a response to a search, whatever it searches for.
func page(r *http.Request, total, rows string) *http.Response {
	body := `{"code":121,"message":"Search success","currPage":1,"pageSize":1,"totalCount":` + total + `,"totalPage":` + total + `,"data":[` + rows + `]}`
	resp, _ := clienttest.Respond(r, http.StatusOK, body) // never fails
	return resp
}

// TestAfterRefusalOfWhatWasShown: the gateway has shown what it refused, in a form that does not tell the outcome, and no longer shows it
// when AfterRefusal is called once more. Nothing is sent.
func TestAfterRefusalOfWhatWasShown(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		s.gateway.Inject(refusal)
		_, _ = s.pay("a", approved)
		usual := s.network
		for _, codes := range [][]int{{999}, {}} {
			s.network = usual
			searchShows(s, codes...)
			if got, err := s.AfterRefusal().CreateSubscription(t.Context(), order("a", approved)); !errors.Is(err, cardgateway.ErrNotSent) {
				t.Errorf("the gateway shows %v: got %v, %v; want ErrNotSent", codes, got, err)
			}
		}
		wantExecuted(t, s, "a", 0)
	})
}
