package cardgateway_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// What Resolve concludes from rows that were returned once and never again, and from approved and declined rows
// together.

// pages is a gateway's search that returns one page after another, and then only empty ones.
type pages []string

func (p *pages) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"code":121,"totalCount":0,"data":[]}`
	if len(*p) > 0 {
		body, *p = (*p)[0], (*p)[1:]
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func page(rows ...string) string {
	return fmt.Sprintf(`{"code":121,"totalCount":%d,"data":[%s]}`, len(rows), strings.Join(rows, ","))
}

func orderRow(code int, uniqueID, more string) string {
	return fmt.Sprintf(`{"transactionId":"t-1","uniqueId":%q,"code":%d,"transactionAmount":"12.50","transactionCurrency":"USD"%s}`, uniqueID, code, more)
}

func resolver(t *testing.T, search http.RoundTripper) *cardgateway.Client {
	t.Helper()
	c, err := cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.example", AppID: "111", HTTPClient: &http.Client{Transport: search},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func paymentSentNow() cardgateway.ResolveQuery {
	return cardgateway.ResolveQuery{
		TransactionID: "t-1", Amount: decimal.RequireFromString("12.50"), Currency: "USD", SentAt: time.Now(), Wait: 20 * time.Second,
	}
}

// TestResolveSeen: what was returned once with the transactionId, in any form, is not absent afterwards.
func TestResolveSeen(t *testing.T) {
	for _, tt := range []struct {
		name string
		page string
		seen bool
	}{
		{"nothing", page(), false},
		{"no amount", page(`{"transactionId":"t-1","uniqueId":"1","code":100,"transactionCurrency":"USD"}`), true},
		{"another amount", page(strings.Replace(orderRow(100, "1", ""), "12.50", "12.51", 1)), true},
		{"another currency", page(strings.Replace(orderRow(100, "1", ""), "USD", "EUR", 1)), true},
		{"currency in small letters", page(strings.Replace(orderRow(100, "1", ""), "USD", "usd", 1)), true},
		{"no currency", page(strings.Replace(orderRow(100, "1", ""), `,"transactionCurrency":"USD"`, "", 1)), true},
		{"an unlisted code", page(orderRow(777, "1", "")), true},
		{"a refund's code", page(orderRow(111, "1", "")), true},
		{"no code", page(strings.Replace(orderRow(100, "1", ""), `"code":100,`, "", 1)), true},
		{"a row that cannot be read", page(strings.Replace(orderRow(100, "1", ""), `"12.50"`, `"1e99"`, 1)), true},
		{"a row that is no object", page("17"), true},
		{"a row announced and not given", `{"code":121,"totalCount":1,"data":[]}`, true},
		{"processing", page(orderRow(102, "1", "")), true},
		{"two declines of a direct payment", page(orderRow(101, "1", ""), orderRow(101, "2", "")), true},
		{"a row with two codes", page(orderRow(100, "1", ""), orderRow(101, "1", "")), true},
		{"another app's row", page(orderRow(100, "1", `,"appId":222`)), false},
		{"another transaction's row", page(strings.Replace(orderRow(100, "1", ""), "t-1", "t-2", 1)), false},
	} {
		for empty := 1; empty <= 3; empty++ {
			t.Run(fmt.Sprintf("%s, then %d empty", tt.name, empty), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					search := append(pages{tt.page}, slices.Repeat([]string{page()}, empty-1)...)
					c := resolver(t, &search)
					tx, err := c.Resolve(t.Context(), paymentSentNow())
					if !tt.seen {
						if !errors.Is(err, cardgateway.ErrNotFound) {
							t.Errorf("got %v, %v, want ErrNotFound", tx, err)
						}
						return
					}
					unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
					if !ok || !unknown.Seen || errors.Is(err, cardgateway.ErrNotFound) {
						t.Fatalf("got %v, %v, want an unknown outcome that was seen", tx, err)
					}
					if _, err := c.Resolve(t.Context(), unknown.Query()); !errors.Is(err, cardgateway.ErrOutcomeUnknown) || errors.Is(err, cardgateway.ErrNotFound) {
						t.Errorf("resolved again, nothing found: got %v, want an unknown outcome", err)
					}
				})
			})
		}
	}
}

// TestResolveSeenLater: a row of the payment ends the doubt.
func TestResolveSeenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		search := pages{page(strings.Replace(orderRow(100, "1", ""), "USD", "usd", 1)), page(), page(orderRow(100, "1", ""))}
		if tx, err := resolver(t, &search).Resolve(t.Context(), paymentSentNow()); err != nil || !tx.Paid() {
			t.Errorf("got %v, %v, want a paid transaction", tx, err)
		}
	})
}

// TestResolveAttempts: approved and declined rows of one transactionId, in every order of up to four. One approved row is
// approved, two are a conflict. Without one, a direct payment is declined by a lone decline, a hosted one by a closed row.
func TestResolveAttempts(t *testing.T) {
	const appId = `,"appId":"111"`
	codes := []int{100, 101, 103}
	var sequences [][]int
	for length := 1; length <= 4; length++ {
		for n := range pow(len(codes), length) {
			sequence := make([]int, length)
			for i := range sequence {
				sequence[i], n = codes[n%len(codes)], n/len(codes)
			}
			sequences = append(sequences, sequence)
		}
	}
	for _, hosted := range []bool{false, true} {
		for _, sequence := range sequences {
			synctest.Test(t, func(t *testing.T) {
				var rows []string
				count := map[int]int{}
				for i, code := range sequence {
					rows = append(rows, orderRow(code, fmt.Sprint(i+1), appId))
					count[code]++
				}
				search := slices.Repeat(pages{page(rows...)}, 100)
				q := paymentSentNow()
				q.HostedPage = hosted
				tx, err := resolver(t, &search).Resolve(t.Context(), q)
				got := clienttest.Outcome(tx, err)
				want := "unknown"
				switch {
				case count[100] > 1:
					want = "conflict"
				case count[100] == 1:
					want = "paid"
				case hosted && count[103] > 0, !hosted && len(sequence) == 1:
					want = "declined"
				}
				if got != want {
					t.Errorf("hosted %t, %v: got %q (%v), want %q", hosted, sequence, got, err, want)
				}
			})
		}
	}
	t.Logf("%d sequences, direct and hosted", len(sequences))
}

func pow(base, exponent int) int {
	n := 1
	for range exponent {
		n *= base
	}
	return n
}

// TestResolveHostedDecline: on the hosted page a decline is an attempt until the page can no longer be used.
func TestResolveHostedDecline(t *testing.T) {
	declined, approved := orderRow(101, "1", `,"transactionAt":"2026-05-04 03:02:01"`), orderRow(100, "2", "")
	for _, tt := range []struct {
		name  string
		pages pages
		sent  time.Duration // ago
		want  string
	}{
		{"declined to the end of Wait", slices.Repeat(pages{page(declined)}, 100), 0, "unknown"},
		{"declined, then approved", pages{page(declined), page(declined, approved)}, 0, "paid"},
		{"declined, then closed", pages{page(declined), page(declined, orderRow(103, "1", ""))}, 0, "unknown"}, // one id, two codes
		{"declined, then another attempt closed", pages{page(declined), page(declined, orderRow(103, "3", ""))}, 0, "declined"},
		{"declined a day ago", slices.Repeat(pages{page(declined)}, 100), 24*time.Hour + time.Second, "declined"},
		{"declined not quite a day ago", slices.Repeat(pages{page(declined)}, 100), 24*time.Hour - time.Minute, "unknown"},
		{"two declines a day ago", slices.Repeat(pages{page(declined, orderRow(101, "2", ""))}, 100), 24*time.Hour + time.Second, "declined"},
		{
			"declined a day ago, and processing", slices.Repeat(pages{page(declined, orderRow(102, "2", ""))}, 100),
			24*time.Hour + time.Second, "processing",
		},
		{"declined just now, and processing", slices.Repeat(pages{page(declined, orderRow(102, "2", ""))}, 100), 0, "processing"},
		{"declined, and waiting for the cardholder", pages{page(declined, orderRow(301, "2", ""))}, 0, "redirect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := paymentSentNow()
				q.HostedPage, q.SentAt = true, q.SentAt.Add(-tt.sent)
				tx, err := resolver(t, &tt.pages).Resolve(t.Context(), q)
				if got := clienttest.Outcome(tx, err); got != tt.want {
					t.Fatalf("got %q (%v), want %q", got, err, tt.want)
				}
				if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok && (!unknown.HostedPage || !unknown.Seen || unknown.Transaction == nil) {
					t.Errorf("got %+v, want what was seen of a hosted payment", unknown)
				}
			})
		})
	}
}

// TestResolveLatestDecline: the last of several declined attempts is returned.
func TestResolveLatestDecline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		search := pages{page(
			orderRow(101, "1", `,"transactionAt":"2026-05-04 03:02:01"`), orderRow(103, "2", `,"transactionAt":"2026-05-04 03:02:03"`),
			orderRow(101, "3", `,"transactionAt":"2026-05-04 03:02:02"`),
		)}
		q := paymentSentNow()
		q.HostedPage = true
		if tx, err := resolver(t, &search).Resolve(t.Context(), q); !errors.Is(err, cardgateway.ErrDeclined) || tx.UniqueID != "2" {
			t.Errorf("got %+v, %v, want the decline with uniqueId 2", tx, err)
		}
	})
}
