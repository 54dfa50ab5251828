package cardgateway_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

func TestParseWallTime(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"2026-02-28", "2026-02-28 00:00:00"},
		{"2024-02-29 23:59:59", "2024-02-29 23:59:59"},
		{"0000-01-01", "0000-01-01 00:00:00"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := cardgateway.ParseWallTime(tt.text)
			if err != nil || got.String() != tt.want || got.IsZero() != (tt.want == "") {
				t.Errorf("%q: got %q, zero %t, %v, want %q", tt.text, got, got.IsZero(), err, tt.want)
			}
			if got.In(time.UTC).IsZero() != (tt.text == "") {
				t.Errorf("%q: got the instant %v", tt.text, got.In(time.UTC))
			}
			back, err := cardgateway.ParseWallTime(got.String())
			if err != nil || back != got || back.Compare(got) != 0 {
				t.Errorf("%q comes back as %q, %v", got, back, err)
			}
			data, err := json.Marshal(got)
			if err == nil {
				back = cardgateway.WallTime{}
				err = json.Unmarshal(data, &back)
			}
			if err != nil || back != got {
				t.Errorf("%q comes back from JSON as %q, %v", got, back, err)
			}
		})
	}
	got, err := cardgateway.ParseWallTime("secret-29 00:00:00")
	if err == nil || !got.IsZero() || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %q, %v, want an error that does not quote the text", got, err)
	}
	w, _ := cardgateway.ParseWallTime("2026-01-01")
	if err := w.UnmarshalText([]byte("soon")); err == nil || !w.IsZero() {
		t.Errorf("UnmarshalText: got %q, %v, want the zero WallTime and an error", w, err)
	}
}

func TestWallTimeCompare(t *testing.T) {
	early, _ := cardgateway.ParseWallTime("2026-01-01")
	late, _ := cardgateway.ParseWallTime("2026-01-01 00:00:01")
	first, _ := cardgateway.ParseWallTime("1970-01-01") // as many seconds as none have
	for _, tt := range []struct {
		a, b cardgateway.WallTime
		want int
	}{{early, late, -1}, {late, early, +1}, {late, late, 0}, {cardgateway.WallTime{}, first, -1}} {
		if got := tt.a.Compare(tt.b); got != tt.want {
			t.Errorf("%v and %v: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
	eight := time.FixedZone("UTC+8", 8*60*60)
	if got, want := early.In(eight), time.Date(2025, 12, 31, 16, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("%v in UTC+8: got %v, want %v", early, got, want)
	}
}

// TestWrongZone: where the gateway's time and the instant are of one moment, a wrong zone is noticed: a walk then names the likely one and
// is complete up to nowhere. Without such a moment, nothing is withheld.
func TestWrongZone(t *testing.T) {
	east, utc, west := time.FixedZone("UTC+8", 8*3600), time.UTC, time.FixedZone("UTC-3", -3*3600)
	pay := func(t *testing.T, c *cardgateway.Client, g *sandbox.Gateway) *cardgateway.Transaction {
		paid, err := c.TokenPayment(t.Context(), cardgateway.NewToken(g.NewToken(sandbox.Approved)), clienttest.TokenPaymentRequest("t-1"))
		if err != nil {
			t.Fatal(err)
		}
		return paid
	}
	type step = func(t *testing.T, c, right *cardgateway.Client, g *sandbox.Gateway)
	var (
		pays    step = func(t *testing.T, c, _ *cardgateway.Client, g *sandbox.Gateway) { pay(t, c, g) }
		refunds step = func(t *testing.T, c, right *cardgateway.Client, g *sandbox.Gateway) {
			req := cardgateway.RefundRequest{UniqueID: pay(t, right, g).UniqueID, RefundTransactionID: "r-1", Amount: clienttest.Amount}
			if _, err := c.CreateRefund(t.Context(), req); err != nil {
				t.Error(err)
			}
		}
		refundsAgain step = func(t *testing.T, c, right *cardgateway.Client, g *sandbox.Gateway) {
			req := cardgateway.RefundRequest{UniqueID: pay(t, c, g).UniqueID, RefundTransactionID: "r-1", Amount: clienttest.Amount}
			for _, client := range []*cardgateway.Client{right, c} {
				if _, err := client.CreateRefund(t.Context(), req); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Hour)
			}
		}
		resolves step = func(t *testing.T, c, right *cardgateway.Client, g *sandbox.Gateway) {
			sent := time.Now()
			pay(t, right, g)
			if _, err := c.Resolve(t.Context(), cardgateway.ResolveQuery{TransactionID: "t-1", Currency: "USD", Amount: clienttest.Amount, SentAt: sent}); err != nil {
				t.Error(err)
			}
		}
		others step = func(t *testing.T, _, right *cardgateway.Client, g *sandbox.Gateway) { pay(t, right, g) }
		gets   step = func(t *testing.T, c, right *cardgateway.Client, g *sandbox.Gateway) {
			if _, err := c.GetTransaction(t.Context(), pay(t, right, g).UniqueID); err != nil {
				t.Error(err)
			}
		}
	)
	for _, tt := range []struct {
		name            string
		client, gateway *time.Location
		step            step
		likely          string
	}{
		{"a payment", east, utc, pays, "UTC+00:00"}, {"a payment in the right zone", east, east, pays, ""}, {"a payment, eastern", west, east, pays, "UTC+08:00"},
		{"a refund", east, utc, refunds, "UTC+00:00"}, {"a refund of an hour ago, and a payment before", east, east, refundsAgain, ""},
		{"a resolved payment", east, utc, resolves, "UTC+00:00"},
		{"another client's payment that is later than now", utc, east, others, "at least UTC+08:00"}, {"one that is not", east, utc, others, ""},
		{"a single query", utc, east, gets, "at least UTC+08:00"}, {"no payment", utc, east, nil, ""},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			g := sandbox.New(sandbox.Options{Location: tt.gateway, RefundDuplicates: sandbox.RefundDuplicatesRepeated})
			var log clienttest.LineLog
			newClient := func(zone *time.Location, logger *slog.Logger) *cardgateway.Client {
				return clienttest.NewClient(t, cardgateway.Config{
					BaseURL: "https://gateway.example", Location: zone, Logger: logger, TestPayments: true, HTTPClient: &http.Client{Transport: g.RoundTripper()},
				})
			}
			c := newClient(tt.client, slog.New(&log))
			if tt.step != nil {
				tt.step(t, c, newClient(tt.gateway, nil), g)
			}
			now := time.Now()
			walk := c.OrderWalk(cardgateway.OrderQuery{Start: now.AddDate(0, 0, -1), End: now}, cardgateway.WalkOptions{})
			for _, err := range walk.All(t.Context()) {
				if err != nil {
					t.Error(err)
				}
			}
			health, err := c.Check(t.Context())
			if err != nil {
				t.Error(err)
			}
			report, warnings := walk.Report(), strings.Count(strings.Join(log, "\n"), "is not the gateway's time zone")
			complete := now.Add(-15 * time.Minute)
			if tt.likely != "" {
				complete = now.AddDate(0, 0, -1)
			}
			if wrong := report.WrongZone; (wrong != nil) != (tt.likely != "") || wrong != nil && wrong.Likely != tt.likely || health.WrongZone != wrong {
				t.Errorf("report: %v, Check: %v, want %q", wrong, health.WrongZone, tt.likely)
			}
			if at := walk.Checkpoint().CompleteUpTo(); !report.CompleteUpTo.Equal(at) || at.Sub(complete).Abs() > time.Minute {
				t.Errorf("complete up to %v and %v, want %v", report.CompleteUpTo, at, complete)
			}
			if want := min(len(tt.likely), 1); warnings != want {
				t.Errorf("%d warnings, want %d: %q", warnings, want, log)
			}
		})
	}
}

// TestRowLaterThanNow: what a row shows of the zone does not depend on the other rows, or on a clock of this machine that is behind.
func TestRowLaterThanNow(t *testing.T) {
	row := func(ahead time.Duration) string {
		return clienttest.OrderRow(100, "1", fmt.Sprintf(`,"transactionAt":%q`, time.Now().UTC().Add(ahead).Format(time.DateTime)))
	}
	for _, tt := range []struct {
		name   string
		behind time.Duration // this machine's clock
		more   string        // a second row
		likely string
	}{
		{"alone", 0, "", "at least UTC+02:00"},
		{"beside one that no clock shows yet", 0, clienttest.OrderRow(100, "2", `,"transactionAt":"2000-01-02 09:00:00"`), "at least UTC+02:00"},
		{"the clock is behind", 2 * time.Hour, "", ""},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			rows := []string{row(2 * time.Hour)}
			if tt.more != "" {
				rows = append(rows, tt.more)
			}
			c := clienttest.NewClient(t, cardgateway.Config{
				BaseURL: clienttest.BaseURL, Location: time.UTC,
				HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					resp, err := clienttest.Respond(r, 200, clienttest.Page(rows...))
					resp.Header.Set("Date", time.Now().Add(tt.behind).UTC().Format(http.TimeFormat))
					return resp, err
				})},
			})
			health, err := c.Check(t.Context())
			if wrong := health.WrongZone; err != nil || (wrong != nil) != (tt.likely != "") || wrong != nil && wrong.Likely != tt.likely {
				t.Errorf("got %v, %v, want %q", wrong, err, tt.likely)
			}
		})
	}
}

// TestWalkClockAhead: what the gateway's clock has not shown yet is not complete, and a later walk returns it, by the checkpoint and by
// CompleteUpTo.
func TestWalkClockAhead(t *testing.T) {
	for _, tt := range []struct {
		name        string
		date, stamp time.Duration // how far the server's Date and the gateway's timestamp are behind this machine's clock
		end         time.Duration // of the range, after now
		complete    time.Duration // before now; zero means the start of the range
	}{
		{"by less than the lag", 14 * time.Minute, 14 * time.Minute, time.Hour, 15 * time.Minute},
		{"by an hour", time.Hour, time.Hour, time.Hour, 0},
		{"by an hour, without a timestamp", time.Hour, 1e6 * time.Hour, time.Hour, 0},
		{"only the timestamp is old", 0, time.Hour, time.Hour, 15 * time.Minute},
		{"only the Date is old", time.Hour, 0, time.Hour, 15 * time.Minute},
		{"there is no Date", -1, time.Hour, time.Hour, 15 * time.Minute},
		{"the clock is behind", -time.Hour, -time.Hour, time.Hour, 15 * time.Minute},
		{"by an hour, for an earlier range", time.Hour, time.Hour, -2 * time.Hour, 2 * time.Hour},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			const late = "2000-01-01 07:30:00" // half an hour before now, in UTC+8
			now, rows := time.Now(), false
			c := clienttest.NewClient(t, cardgateway.Config{
				BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					var found []string
					if q := r.URL.Query(); rows && q.Get("startDate") <= late && late <= q.Get("endingDate") {
						found = append(found, clienttest.OrderRow(100, "1", fmt.Sprintf(`,"transactionAt":%q`, late)))
					}
					stamp := fmt.Sprintf(`"timestamp":%d,"data"`, time.Now().Add(-tt.stamp).UnixMilli())
					resp, err := clienttest.Respond(r, 200, strings.Replace(clienttest.Page(found...), `"data"`, stamp, 1))
					if tt.date != -1 {
						resp.Header.Set("Date", time.Now().Add(-tt.date).UTC().Format(http.TimeFormat))
					}
					return resp, err
				})},
			})
			start := now.AddDate(0, -2, 0)
			read := func(o cardgateway.WalkOptions, start time.Time) *cardgateway.Walk[cardgateway.Transaction] {
				w, n := c.OrderWalk(cardgateway.OrderQuery{Start: start, End: now.Add(tt.end)}, o), 0
				for _, err := range w.All(t.Context()) {
					if n++; err != nil {
						t.Error(err)
					}
				}
				if rows && n != 1 {
					t.Errorf("%d rows, want the one that is made after the first walk", n)
				}
				return w
			}
			w := read(cardgateway.WalkOptions{}, start)
			upTo := w.Report().CompleteUpTo
			if complete := now.Add(-tt.complete); upTo.Sub(complete).Abs() > time.Minute && (tt.complete > 0 || upTo.After(now.Add(-75*time.Minute))) {
				t.Errorf("complete up to %v, want %v", upTo, complete)
			}
			if rows = tt.complete == 0; rows {
				read(cardgateway.WalkOptions{Resume: w.Checkpoint()}, start)
				read(cardgateway.WalkOptions{}, upTo)
			}
		})
	}
}
