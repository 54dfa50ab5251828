package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// orders is the merchant's own database: what is being paid or refunded.
type orders struct {
	mu     sync.Mutex
	paying []journal.ID
	asked  int
	err    error
}

func (o *orders) set(err error, paying ...journal.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paying, o.err = paying, err
}

func (o *orders) list(context.Context) ([]journal.ID, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	return slices.Clone(o.paying), o.err
}

// stored stores the outcome of an entry: it is no longer being paid.
func (o *orders) stored(_ context.Context, e *journal.Entry) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paying = slices.DeleteFunc(o.paying, func(id journal.ID) bool { return id == e.ID() })
	return nil
}

// TestNeverBegun: an order that was stored as being paid, and whose call never began, is reported as not sent, once; and it can be
// paid afterwards.
func TestNeverBegun(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		o := &orders{paying: []journal.ID{journal.PaymentID("a"), journal.RefundID("r")}}
		queries := 0
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			queries++
			return s.gateway.RoundTripper().RoundTrip(r)
		})
		s.Journal = s.restarted(journal.Options{Paying: o.list})
		told := running(t, s.Journal, time.Minute, o.stored)
		time.Sleep(4*time.Minute + 59*time.Second)
		synctest.Wait()
		if len(told.all()) > 0 {
			t.Errorf("after less than five minutes reported %q", told.all())
		}
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if want := []string{"a not sent", "r not sent"}; !slices.Equal(told.all(), want) || told.at()[0] > 6*time.Minute {
			t.Errorf("reported %q at %v, want %q within 6 minutes", told.all(), told.at(), want)
		}
		if queries != 2 {
			t.Errorf("%d queries, want one for each", queries)
		}
		if got, err := s.pay("a", approved); err != nil || !got.Paid() {
			t.Errorf("paying it: %v, %v", got, err)
		}
		wantExecuted(t, s, "a", 1)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if want := []string{"a not sent", "r not sent", "a succeeded"}; !slices.Equal(told.all(), want) {
			t.Errorf("reported %q, want %q", told.all(), want)
		}
		if got, err := s.restarted(journal.Options{}).CreateSubscription(t.Context(), order("a", approved)); err != nil || !got.Paid() {
			t.Errorf("paying it once more: %v, %v", got, err)
		}
		wantExecuted(t, s, "a", 1)
	})
}

// TestRepetitionNeverBegun: a payment or a refund has ended so that it can be made again, and was stored as being made again; but the process
// ended before the journal recorded the second call. The entry is reported once more, and it can be paid afterwards.
func TestRepetitionNeverBegun(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first func(*shop)
		after time.Duration // until the first call has ended so
		again func(*shop) error
	}{
		{"not sent", func(s *shop) { s.refuse = errors.New("no route to host") }, time.Minute, func(s *shop) error {
			_, err := s.pay("a", approved)
			return err
		}},
		{"refused", func(s *shop) { s.gateway.Inject(refusal) }, time.Minute, func(s *shop) error {
			_, err := s.AfterRefusal().CreateSubscription(context.Background(), order("a", approved))
			return err
		}},
		{"presumed absent", func(s *shop) { s.loseNext(sandbox.CommitNever) }, 25 * time.Hour, func(s *shop) error {
			_, err := s.PayAgainRiskingSecondCharge().CreateSubscription(context.Background(), order("a", approved))
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
				o := &orders{}
				s.Journal = s.restarted(journal.Options{Paying: o.list})
				tt.first(s)
				_, _ = s.pay("a", approved)
				s.refuse = nil
				time.Sleep(tt.after)
				told := running(t, s.Journal, time.Minute, o.stored)
				time.Sleep(time.Minute)
				synctest.Wait()
				if all := told.all(); !slices.Equal(all, []string{"a " + tt.name}) {
					t.Fatalf("reported %q, want %q", all, "a "+tt.name)
				}
				told.forget()
				o.set(nil, journal.PaymentID("a"))
				time.Sleep(4 * time.Minute)
				synctest.Wait()
				if all := told.all(); len(all) > 0 {
					t.Errorf("after four minutes reported %q", all)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if all := told.all(); !slices.Equal(all, []string{"a " + tt.name}) || told.at()[0] > 12*time.Minute {
					t.Errorf("reported %q at %v, want %q once, within 12 minutes", all, told.at(), "a "+tt.name)
				}
				if err := tt.again(s); err != nil {
					t.Errorf("paid again: %v", err)
				}
				wantExecuted(t, s, "a", 1)
			})
		})
	}
}

// TestPayingListsTwice: an id that the list has twice is looked at once: it is reported once, however long the list has it.
func TestPayingListsTwice(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		o := &orders{paying: []journal.ID{journal.PaymentID("a"), journal.PaymentID("a")}}
		told := running(t, s.restarted(journal.Options{Paying: o.list}), time.Minute, nil)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if want := []string{"a not sent"}; !slices.Equal(told.all(), want) {
			t.Errorf("reported %q, want %q", told.all(), want)
		}
	})
}

// TestRepetitionAtOnceNeverBegun: a payment is presumed absent, and its order is being paid again within the minute, so that every list has
// it; the call never begins. The entry is reported once more, and not again.
func TestRepetitionAtOnceNeverBegun(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		o := &orders{paying: []journal.ID{journal.PaymentID("a")}}
		s.Journal = s.restarted(journal.Options{Paying: o.list, AbsentAfter: 30 * time.Minute})
		s.gateway.Inject(lost)
		_, _ = s.pay("a", approved)
		told := running(t, s.Journal, time.Minute, nil)
		time.Sleep(29 * time.Minute)
		synctest.Wait()
		told.forget()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if want := []string{"a presumed absent"}; !slices.Equal(told.all(), want) {
			t.Errorf("reported %q, want %q", told.all(), want)
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if want := []string{"a presumed absent", "a presumed absent"}; !slices.Equal(told.all(), want) || told.at()[1] > 13*time.Minute {
			t.Errorf("reported %q at %v, want %q", told.all(), told.at(), want)
		}
	})
}

// TestRepetitionBegins: a call that is made again after all is reported with its outcome only, although it was stored long before.
func TestRepetitionBegins(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		o := &orders{}
		s.Journal = s.restarted(journal.Options{Paying: o.list})
		s.refuse = errors.New("no route to host")
		_, _ = s.pay("a", approved)
		time.Sleep(time.Hour)
		told := running(t, s.Journal, time.Minute, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		told.forget()
		o.set(nil, journal.PaymentID("a"))
		for range 10 { // the customer presses the button every minute
			_, _ = s.pay("a", approved)
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		s.refuse = nil
		if got, err := s.pay("a", approved); err != nil || !got.Paid() {
			t.Errorf("got %v, %v", got, err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		all := told.all()
		for i, text := range all {
			if want := "a not sent"; i < len(all)-1 && text != want || i == len(all)-1 && text != "a succeeded" {
				t.Errorf("reported %q", all)
			}
		}
		if len(all) > 11 {
			t.Errorf("reported %d times, want once for each call at most: %q", len(all), all)
		}
		wantExecuted(t, s, "a", 1)
	})
}

// TestPayingBegins: a call that begins is never reported as not sent, whenever that is.
func TestPayingBegins(t *testing.T) {
	for _, tt := range []struct {
		name   string
		paying time.Duration // when the order is stored
		called time.Duration // when the payment method is called
		state  string
	}{
		{"before the first look", 0, 0, "succeeded"},
		{"between two looks", 20 * time.Second, 30 * time.Second, "succeeded"},
		{"at the last moment", 0, 5*time.Minute - time.Millisecond, "succeeded"},
		{"a pending one", 0, time.Minute, "pending"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
				o := &orders{}
				told := running(t, s.restarted(journal.Options{Paying: o.list}), time.Minute, nil) // the order is never stored as paid
				time.Sleep(tt.paying)
				o.set(nil, journal.PaymentID("a"))
				time.Sleep(tt.called - tt.paying)
				code := approved
				if tt.state == "pending" {
					code = pending
				}
				_, _ = s.pay("a", code) // by another process
				time.Sleep(time.Hour)
				synctest.Wait()
				if want := []string{"a " + tt.state}; !slices.Equal(told.all(), want) {
					t.Errorf("reported %q, want %q", told.all(), want)
				}
				if o.asked < 60 {
					t.Errorf("asked %d times in an hour", o.asked)
				}
			})
		})
	}
}

// slowBegin is a store that is slow to record the intent of one payment.
type slowBegin struct {
	journal.Store
	mu     sync.Mutex
	begins map[string]int
	gets   int
	fail   bool // the first Record fails
}

func (s *slowBegin) Get(ctx context.Context, key journal.Key) (journal.Entry, error) {
	s.mu.Lock()
	s.gets++
	s.mu.Unlock()
	return s.Store.Get(ctx, key)
}

func (s *slowBegin) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	s.mu.Lock()
	s.begins[in.ID.Text]++
	slow := in.ID.Text == "slow" && s.begins["slow"] == 1
	s.mu.Unlock()
	if slow {
		time.Sleep(8 * time.Minute)
	}
	return s.Store.Begin(ctx, in)
}

func (s *slowBegin) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	s.mu.Lock()
	fail := s.fail
	s.fail = false
	s.mu.Unlock()
	if fail {
		return errDisk
	}
	return s.Store.Record(ctx, key, version, ev)
}

// TestPayingInFlight: an id whose call is in flight is not reported; one with an entry is looked up once.
func TestPayingInFlight(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		o := &orders{paying: []journal.ID{journal.PaymentID("slow"), journal.PaymentID("pending"), journal.PaymentID("bad\n")}}
		_, _ = s.pay("pending", pending)
		store := &slowBegin{Store: s.store, begins: make(map[string]int)}
		j := journal.New(s.client, store, journal.Options{Paying: o.list, WriteTimeout: time.Hour})
		told := running(t, j, time.Minute, nil)
		ended := make(chan error)
		go func() {
			_, err := j.CreateSubscription(context.Background(), order("slow", approved))
			ended <- err
		}()
		if err := <-ended; err != nil {
			t.Errorf("the slow one: %v", err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if want, got := []string{"pending pending", "slow succeeded"}, slices.Sorted(slices.Values(told.all())); !slices.Equal(got, want) {
			t.Errorf("reported %q, want %q", got, want)
		}
		// Begun by the call, and by Run, which looks once more whether there is something to report, and again after it was reported.
		if want := "map[slow:2]"; fmt.Sprint(store.begins) != want || store.gets != 4 {
			t.Errorf("begun %v, want %s; looked up %d times", store.begins, want, store.gets)
		}
	})
}

// TestNeverBegunInterrupted: an entry that was created, and whose evidence could not be recorded, is reported all the same, and
// nothing is asked or sent for it.
func TestNeverBegunInterrupted(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		o := &orders{paying: []journal.ID{journal.PaymentID("a")}}
		store := &slowBegin{Store: s.store, begins: make(map[string]int), fail: true}
		told := running(t, journal.New(s.client, store, journal.Options{Paying: o.list}), time.Minute, o.stored)
		time.Sleep(time.Hour)
		synctest.Wait()
		if want := []string{"a not sent"}; !slices.Equal(told.all(), want) || store.fail {
			t.Errorf("reported %q, want %q", told.all(), want)
		}
	})
}

// TestPayingCalledMeanwhile: a call that finds an entry without evidence of an id that nobody had called sends, once.
func TestPayingCalledMeanwhile(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		in := journal.Intent{Shop: s.Shop(), ID: journal.PaymentID("a"), Operation: "Paying", Amount: decimal.Decimal{}, At: time.Now(), Sender: "x"}
		if _, _, err := s.store.Begin(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if got, err := s.pay("a", approved); err != nil || !got.Paid() {
			t.Errorf("got %v, %v", got, err)
		}
		wantExecuted(t, s, "a", 1)
		wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "succeeded"})
	})
}

// TestPayingOfLostEntries: what the gateway shows is not reported as not sent, although the journal has no entry.
func TestPayingOfLostEntries(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		paid, err := s.pay("a", approved)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.CreateRefund(t.Context(), refund("r", paid.UniqueID)); err != nil {
			t.Fatal(err)
		}
		s.store = journal.NewMemoryStore() // restored from an empty backup
		o := &orders{paying: []journal.ID{journal.PaymentID("a"), journal.RefundID("r"), journal.PaymentID("b")}}
		var log bytes.Buffer
		told := running(t, s.restarted(journal.Options{Paying: o.list, Logger: slog.New(slog.NewTextHandler(&log, nil))}), time.Minute, o.stored)
		time.Sleep(5*time.Minute + time.Second)
		silence(s) // b cannot be looked up for a while
		time.Sleep(10 * time.Minute)
		s.gateway.ClearFaults()
		time.Sleep(time.Hour)
		synctest.Wait()
		if want := []string{"b not sent"}; !slices.Equal(told.all(), want) {
			t.Errorf("reported %q, want %q", told.all(), want)
		}
		if n := strings.Count(log.String(), "it has lost entries"); n != 2 {
			t.Errorf("logged %d times, want once each: %s", n, &log)
		}
	})
}

// TestPayingOfLostRepetition: the journal was restored from a backup that has an earlier call, which sent nothing, and not the later one, which
// paid. It is not reported once more that nothing was sent.
func TestPayingOfLostRepetition(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		o := &orders{}
		var log bytes.Buffer
		s.Journal = s.restarted(journal.Options{Paying: o.list, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		s.refuse = errors.New("no route to host")
		_, _ = s.pay("a", approved)
		s.refuse = nil
		told := running(t, s.Journal, time.Minute, nil)
		time.Sleep(time.Minute)
		if _, err := s.client.CreateSubscription(t.Context(), order("a", approved)); err != nil { // its entry is lost
			t.Fatal(err)
		}
		o.set(nil, journal.PaymentID("a"))
		time.Sleep(time.Hour)
		synctest.Wait()
		if want := []string{"a not sent"}; !slices.Equal(told.all(), want) {
			t.Errorf("reported %q, want %q", told.all(), want)
		}
		if n := strings.Count(log.String(), "it has lost entries"); n != 1 {
			t.Errorf("logged %d times, want once: %s", n, &log)
		}
	})
}

// TestNeverBegunIsShown: the gateway shows late what the journal had lost, and what was reported as not sent. That is a conflict, and nothing is
// sent with this id again.
func TestNeverBegunIsShown(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		o := &orders{paying: []journal.ID{journal.PaymentID("a"), journal.RefundID("r")}}
		s.Journal = s.restarted(journal.Options{Paying: o.list})
		told := running(t, s.Journal, time.Minute, o.stored)
		time.Sleep(10 * time.Minute)
		confirm(t, s.Journal, "a")
		err := s.ConfirmRefund(t.Context(), &cardgateway.Refund{
			Code: 111, UniqueID: "1", MerchantRefundID: "r", RefundUniqueID: "2", RefundAmount: decimal.NewFromInt(5),
		})
		if err != nil {
			t.Errorf("ConfirmRefund: %v", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if want, got := []string{"a conflict", "a not sent", "r conflict", "r not sent"}, slices.Sorted(slices.Values(told.all())); !slices.Equal(got, want) {
			t.Errorf("reported %q, want %q", got, want)
		}
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrConflict) {
			t.Errorf("paying it: got %v, want a conflict", err)
		}
		wantExecuted(t, s, "a", 0)
	})
}

// TestNeverBegunIsSeen: the gateway shows late, in a form that does not tell the outcome, what the journal had lost. It is unknown, and nothing
// is sent with this id.
func TestNeverBegunIsSeen(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		o := &orders{paying: []journal.ID{journal.PaymentID("a")}}
		s.Journal = s.restarted(journal.Options{Paying: o.list})
		told := running(t, s.Journal, time.Minute, o.stored)
		time.Sleep(10 * time.Minute)
		row := shown("a")
		row.Code = 999
		if err := s.Confirm(t.Context(), row); err != nil {
			t.Errorf("Confirm: %v", err)
		}
		time.Sleep(10 * time.Minute)
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
			t.Errorf("paying it: got %v, want an unknown outcome", err)
		}
		wantExecuted(t, s, "a", 0)
		confirm(t, s.Journal, "a")
		time.Sleep(time.Second)
		synctest.Wait()
		if want := []string{"a not sent", "a unknown", "a conflict"}; !slices.Equal(told.all(), want) {
			t.Errorf("reported %q, want %q", told.all(), want)
		}
	})
}

// TestPayingFails: an error of Paying ends nothing; what is known of the ids stays. Very long lists are looked at in part.
func TestPayingFails(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		var ids []journal.ID
		for i := range 10_001 {
			ids = append(ids, journal.PaymentID(fmt.Sprintf("%05d", i)))
		}
		o := &orders{paying: ids}
		told := running(t, s.restarted(journal.Options{Paying: o.list}), time.Minute, func(context.Context, *journal.Entry) error { return nil })
		time.Sleep(2*time.Minute + time.Second)
		o.set(errDisk)
		time.Sleep(2 * time.Minute)
		o.set(nil, ids...)
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if len(told.all()) != 10_000 || told.all()[0] != "00000 not sent" {
			t.Errorf("%d are reported, want 10,000", len(told.all()))
		}
	})
}

// TestPayingInOneProcess: only the process that works asks.
func TestPayingInOneProcess(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		rs := newReplicas(t, s)
		one, other := &orders{paying: []journal.ID{journal.PaymentID("a")}}, &orders{}
		rs.start("a", journal.Options{Paying: one.list})
		rs.start("b", journal.Options{Paying: other.list})
		rs.want(2*time.Hour+time.Minute, "a a not sent")
		if one.asked != 3 || other.asked != 0 {
			t.Errorf("asked %d and %d times", one.asked, other.asked)
		}
	})
}

// TestPayingAfterAnotherProcess: the five minutes begin again when another process takes over, also if that one has worked before.
func TestPayingAfterAnotherProcess(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		rs := newReplicas(t, s)
		o := &orders{paying: []journal.ID{journal.PaymentID("a")}}
		a := rs.start("a", journal.Options{Paying: o.list})
		b := rs.start("b", journal.Options{Paying: o.list})
		time.Sleep(time.Minute)
		o.set(nil) // it was not paid after all
		a.store.set(true, false)
		time.Sleep(30 * time.Minute)
		a.store.set(false, false)
		time.Sleep(time.Minute)
		o.set(nil, journal.PaymentID("a")) // its call is about to begin
		b.stop()
		rs.want(4 * time.Minute)
		if o.asked != 3 {
			t.Errorf("asked %d times, want once for each term", o.asked)
		}
		rs.want(time.Hour, "a a not sent")
	})
}

// TestPayingIsOnAnotherPage: the gateway ignores what is searched for, and has the payment on its second page. Its journal has lost it. It
// is not said that nothing was sent. Other ids do not wait for that.
func TestPayingIsOnAnotherPage(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		if _, err := s.client.CreateSubscription(t.Context(), order("a", approved)); err != nil {
			t.Fatal(err)
		}
		usual := s.network
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet && r.URL.Query().Get("transactionId") != "c" {
				return page(r, "2", `{"code":100,"uniqueId":"77","transactionId":"b","transactionAmount":"1.00","transactionCurrency":"USD"}`), nil
			}
			return usual.RoundTrip(r)
		})
		o := &orders{paying: []journal.ID{journal.PaymentID("a"), journal.RefundID("r"), journal.PaymentID("c")}}
		told := running(t, s.restarted(journal.Options{Paying: o.list}), time.Minute, nil)
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if want := []string{"c not sent"}; !slices.Equal(told.all(), want) {
			t.Errorf("reported %q, want %q", told.all(), want)
		}
	})
}

// TestPayingOfOneBadEntry: an entry that cannot be read, or a page with a row that cannot be read, concerns one id of the list. It is
// logged once, and the others do not wait for it.
func TestPayingOfOneBadEntry(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		usual := s.network
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("transactionId") == "b" {
				return page(r, "1", `{"code":100,"uniqueId":{},"transactionId":"b"}`), nil
			}
			return usual.RoundTrip(r)
		})
		o := &orders{paying: []journal.ID{journal.PaymentID("a"), journal.PaymentID("b"), journal.PaymentID("c")}}
		var log bytes.Buffer
		j := journal.New(s.client, unreadable{s.store, map[string]bool{"a": true}}, journal.Options{
			Paying: o.list, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		told := running(t, j, time.Minute, nil)
		time.Sleep(6*time.Minute + time.Second)
		synctest.Wait()
		if want := []string{"c not sent"}; !slices.Equal(told.all(), want) {
			t.Errorf("after six minutes reported %q, want %q", told.all(), want)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := strings.Count(log.String(), "looking for payments that were never begun"); n != 2 {
			t.Errorf("logged %d times, want once each: %s", n, &log)
		}
	})
}

// TestPayingOfAnIDThatNobodyCanPay: an id that the client rejects concerns nobody else. It is not logged, because no call with it sends anything.
func TestPayingOfAnIDThatNobodyCanPay(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		o := &orders{paying: []journal.ID{journal.PaymentID(" "), journal.RefundID("\u00a0 "), journal.PaymentID(""), journal.PaymentID("a")}}
		var log bytes.Buffer
		told := running(t, s.restarted(journal.Options{Paying: o.list, Logger: slog.New(slog.NewTextHandler(&log, nil))}), time.Minute, o.stored)
		time.Sleep(6*time.Minute + time.Second)
		synctest.Wait()
		if want := []string{"a not sent"}; !slices.Equal(told.all(), want) || log.Len() > 0 {
			t.Errorf("reported %q, want %q; logged %s", told.all(), want, &log)
		}
	})
}

// TestPayingIsPending: the gateway shows late that an id that was reported as not sent is in processing or waits for the cardholder: the journal
// had lost its entry. It is queried by what the gateway has shown, and its end is reported.
func TestPayingIsPending(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		o := &orders{paying: []journal.ID{journal.PaymentID("p"), journal.PaymentID("w"), journal.RefundID("r")}}
		s.Journal = s.restarted(journal.Options{Paying: o.list})
		told := running(t, s.Journal, time.Minute, o.stored)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		told.forget()
		now, usual := time.Now(), s.network
		made, _ := cardgateway.ParseWallTime(now.UTC().Add(-50 * 24 * time.Hour).Format(time.DateTime))
		code := func(id string) cardgateway.Code {
			if time.Since(now) < 15*time.Minute {
				return map[string]cardgateway.Code{"p": 102, "w": 301, "r": 110}[id]
			}
			return map[string]cardgateway.Code{"p": 100, "w": 101, "r": 112}[id]
		}
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			q := r.URL.Query()
			start, _ := time.Parse(time.DateTime, q.Get("startDate"))
			ending, _ := time.Parse(time.DateTime, q.Get("endingDate"))
			id := q.Get("transactionId")
			switch at := made.In(time.UTC); {
			case r.Method != http.MethodGet:
				return usual.RoundTrip(r)
			case at.Before(start) || at.After(ending):
				return page(r, "0", ""), nil
			case id == "":
				return page(r, "1", fmt.Sprintf(
					`{"code":%d,"uniqueId":"5","merchantRefundId":"r","refundUniqueId":"2","refundAmount":"5.00","refundRequestAt":%q}`, code("r"), made)), nil
			}
			return page(r, "1", fmt.Sprintf(
				`{"code":%d,"uniqueId":"1","transactionId":%q,"transactionAmount":"12.50","transactionCurrency":"USD","transactionAt":%q}`, code(id), id, made)), nil
		})
		for _, id := range []string{"p", "w"} {
			row := shown(id)
			row.Code, row.TransactionAt = code(id), made
			if err := s.Confirm(t.Context(), row); err != nil {
				t.Errorf("Confirm: %v", err)
			}
		}
		if err := s.ConfirmRefund(t.Context(), &cardgateway.Refund{
			Code: 110, UniqueID: "5", MerchantRefundID: "r", RefundUniqueID: "2", RefundAmount: decimal.NewFromInt(5), RefundRequestAt: made,
		}); err != nil {
			t.Errorf("ConfirmRefund: %v", err)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		for e := range s.Recover(t.Context()) {
			if err := e.LastQueryError(); err != nil {
				t.Errorf("%v: the query failed: %v", e.ID(), err)
			}
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		want := []string{"p conflict", "p pending", "r declined", "r pending", "w declined", "w pending"}
		if got := slices.Sorted(slices.Values(told.all())); !slices.Equal(got, want) {
			t.Errorf("reported %q, want %q", got, want)
		}
	})
}

// TestStoreLosesPaying: Options.Paying has begun the entry of a payment, which is paid later. The store loses the entry while the
// payment is sent, and its outcome is unknown. It is not sent again.
func TestStoreLosesPaying(t *testing.T) {
	inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
		store := &replacedStore{Store: s.store}
		s.store = store
		o := &orders{paying: []journal.ID{journal.PaymentID("a")}}
		s.Journal = s.restarted(journal.Options{Paying: o.list})
		told := running(t, s.Journal, time.Minute, o.stored)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if want := []string{"a not sent"}; !slices.Equal(told.all(), want) {
			t.Errorf("reported %q, want %q", told.all(), want)
		}
		usual := s.network
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				store.Store = journal.NewMemoryStore()
			}
			return usual.RoundTrip(r)
		})
		s.loseNext(sandbox.CommitNow)
		if _, err := s.pay("a", approved); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
			t.Errorf("got %v, want an unknown outcome", err)
		}
		if e, err := s.Get(t.Context(), journal.PaymentID("a")); err != nil || e.State() != journal.Unknown {
			t.Errorf("got the state %v, %v; want unknown", e.State(), err)
		}
		_, _ = s.restarted(journal.Options{}).CreateSubscription(t.Context(), order("a", approved))
		wantExecuted(t, s, "a", 1)
	})
}

// replacedStore is a store that can be replaced by another one.
type replacedStore struct{ journal.Store }
