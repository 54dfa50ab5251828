package cardgateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

func refundOutcome(r *cardgateway.Refund, err error) string {
	switch {
	case err != nil:
		return clienttest.Outcome(nil, err)
	case r.Refunded():
		return "refunded"
	}
	return r.State().String()
}

// TestRefundOutcomes: what a response to a refund means. Each row is one response.
func TestRefundOutcomes(t *testing.T) {
	with := func(code int, old, new string) string {
		return strings.Replace(clienttest.RefundRow(code, "9", ""), old, new, 1)
	}
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"accepted", 200, clienttest.RefundRow(110, "9", ""), "processing"},
		{"refunded", 200, clienttest.RefundRow(111, "9", ""), "refunded"},
		{"refused for good", 200, clienttest.RefundRow(112, "9", ""), "declined"},
		{"refused for good, with code and message alone", 200, `{"code":112,"message":"The refund amount is greater than the transaction amount"}`, "declined"},
		{"the interface's own name of the id", 200, with(110, "refundTransactionId", "merchantRefundId"), "processing"},
		{"uniqueId as a number", 200, with(110, `"77"`, "77"), "processing"},
		{"no amount", 200, with(110, `"refundAmount":"12.50",`, ""), "processing"},
		{"another amount", 200, with(110, "12.50", "12.51"), "unknown"},
		{"another refund", 200, with(110, "r-1", "r-2"), "unknown"},
		{"another payment", 200, with(110, `"77"`, `"78"`), "unknown"},
		{"another refund, refused for good", 200, with(112, "r-1", "r-2"), "unknown"},
		{"no id", 200, with(110, `"refundTransactionId":"r-1",`, ""), "unknown"},
		{"no id, refused for good, with the gateway's id", 200, with(112, `"refundTransactionId":"r-1",`, ""), "unknown"},
		{"no id, refused for good, with the gateway's id alone", 200, `{"code":112,"refundUniqueId":"9"}`, "unknown"},
		{"no id, refused for good, with the amount alone", 200, `{"code":112,"refundAmount":"12.50"}`, "unknown"},
		{"no uniqueId", 200, with(110, `"uniqueId":"77",`, ""), "processing"},
		{"a payment's code", 200, clienttest.RefundRow(100, "9", ""), "unknown"},
		{"no code", 200, with(110, `"code":110,`, ""), "unknown"},
		{"an amount that cannot be read", 200, with(110, `"12.50"`, `"1e9"`), "unknown"},
		{"not authorized", 200, `{"code":401}`, "refused"},
		{"not found", 200, `{"code":404,"uniqueId":"77"}`, "refused"},
		{"not authorized, and yet it has an id", 200, `{"code":401,"refundUniqueId":"9"}`, "unknown"},
		{"repeated", 200, `{"code":501}`, "unknown"},
		{"system error", 200, `{"code":999}`, "unknown"},
		{"HTTP 401", 401, "", "refused"}, {"HTTP 404", 404, `{"code":404}`, "refused"}, {"HTTP 400 with a refund", 400, clienttest.RefundRow(110, "9", ""), "unknown"},
		{"HTTP 401 with half a response", 401, `{"code":`, "unknown"},
		{"HTTP 429", 429, "", "refused"}, {"HTTP 500", 500, clienttest.RefundRow(112, "9", ""), "unknown"}, {"HTTP 302", 302, "", "unknown"},
		{"empty", 200, "", "unknown"}, {"cut", 200, clienttest.RefundRow(111, "9", "")[:40], "unknown"}, {"a page", 200, "<html>", "unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.Answering(tt.status, tt.body)}})
			r, err := c.CreateRefund(t.Context(), clienttest.RefundRequest())
			if got := refundOutcome(r, err); got != tt.want {
				t.Fatalf("got %q (%v), want %q", got, err, tt.want)
			}
			clienttest.CheckOneSentinel(t, err)
			if cardgateway.SafeToRetry(err) {
				t.Errorf("SafeToRetry(%v) is true", err)
			}
			if (r == nil) != (tt.want == "unknown" || tt.want == "refused") {
				t.Errorf("refund: got %+v", r)
			}
			if err != nil && tt.want != "refused" && !strings.Contains(err.Error(), `refund "r-1"`) {
				t.Errorf("the error does not name the refund: %v", err)
			}
			if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok {
				q := unknown.Query()
				if q.UniqueID != "77" || q.RefundTransactionID != "r-1" || !q.Amount.Equal(decimal.RequireFromString("12.50")) || time.Since(q.SentAt) > time.Minute {
					t.Errorf("Query: got %+v", q)
				}
			}
		})
	}
}

// TestRefundErr: only a refund that is declined for good has an error, and it keeps a masked copy.
func TestRefundErr(t *testing.T) {
	for code, want := range map[cardgateway.Code]error{
		cardgateway.CodeRefundAccepted: nil, cardgateway.CodeRefundSuccess: nil, cardgateway.CodeRefundFailed: cardgateway.ErrDeclined, 0: nil,
	} {
		t.Run(code.String(), func(t *testing.T) {
			r := &cardgateway.Refund{Code: code, MerchantRefundID: "r-1", Message: "card " + clienttest.CardNumber}
			err := r.Err()
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if err != nil && (!strings.Contains(err.Error(), `refund "r-1"`) || strings.Contains(clienttest.DeepPrint(err, false), clienttest.CardNumber)) {
				t.Errorf("got %v", err)
			}
			if !strings.Contains(r.Message, clienttest.CardNumber) {
				t.Error("the refund itself has changed")
			}
		})
	}
}

// TestRefundThatWasSeen: a response that has the refund's id and shows that it exists is remembered, so that it is never taken for
// absent.
func TestRefundThatWasSeen(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		seen       bool
	}{
		{"another amount", strings.Replace(clienttest.RefundRow(110, "9", ""), "12.50", "12.51", 1), true},
		{"a code that says nothing", clienttest.RefundRow(100, "9", ""), true},
		{"another refund", strings.Replace(clienttest.RefundRow(110, "9", ""), "r-1", "r-2", 1), false},
		{"under an id that the gateway has changed", strings.Replace(clienttest.RefundRow(110, "9", ""), "r-1", "SHOP-R-1", 1), true},
		{"under the gateway's own id and its own", clienttest.RefundRow(110, "9", `,"merchantRefundId":"8801"`), true},
		{"another refund of another payment", strings.NewReplacer("r-1", "r-10", `"77"`, `"78"`).Replace(clienttest.RefundRow(110, "9", "")), false},
		{"its id alone", `{"code":999,"refundTransactionId":"r-1"}`, false},
		{"nothing", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.Answering(200, tt.body)}})
			before := time.Now()
			_, err := c.CreateRefund(t.Context(), clienttest.RefundRequest())
			unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err)
			if !ok || unknown.Seen != tt.seen || unknown.Query().Seen != tt.seen || unknown.Op != "CreateRefund" || unknown.UniqueID != "77" {
				t.Fatalf("got %+v, want Seen %t", err, tt.seen)
			}
			if (unknown.Refund != nil) != (tt.body != "") || unknown.Cause == nil || unknown.SentAt.Before(before) {
				t.Errorf("got refund %+v, cause %v, sent at %v", unknown.Refund, unknown.Cause, unknown.SentAt)
			}
		})
	}
}

func TestRefundRequests(t *testing.T) {
	var sent string
	c := clienttest.NewClient(t,
		cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			sent = r.Method + " " + r.URL.Path + " " + string(body)
			return clienttest.Answering(200, "{}")(r)
		})}})
	for _, tt := range []struct {
		name   string
		change func(*cardgateway.RefundRequest)
		want   string // of what is sent, or the problem
	}{
		{"all", func(r *cardgateway.RefundRequest) { r.Remark, r.Extra = "as agreed", map[string]any{"reason": 3} },
			`POST /base/api/refund {"uniqueId":"77","refundTransactionId":"r-1","amount":"12.50","remark":"as agreed","reason":3}`},
		{"no remark", func(*cardgateway.RefundRequest) {}, `POST /base/api/refund {"uniqueId":"77","refundTransactionId":"r-1","amount":"12.50"}`},
		{
			"three decimals", func(r *cardgateway.RefundRequest) { r.Amount = decimal.RequireFromString("0.001") },
			`POST /base/api/refund {"uniqueId":"77","refundTransactionId":"r-1","amount":"0.001"}`,
		},
		{"nothing", func(r *cardgateway.RefundRequest) { *r = cardgateway.RefundRequest{} }, "uniqueId required, refundTransactionId required, amount required"},
		{"letters in uniqueId", func(r *cardgateway.RefundRequest) { r.UniqueID = "a" }, "uniqueId format"},
		{"long uniqueId", func(r *cardgateway.RefundRequest) { r.UniqueID = strings.Repeat("1", 129) }, "uniqueId format"},
		{"long id", func(r *cardgateway.RefundRequest) { r.RefundTransactionID = strings.Repeat("x", 129) }, "refundTransactionId length"},
		{"amount zero", func(r *cardgateway.RefundRequest) { r.Amount = decimal.RequireFromString("0.00") }, "amount range"},
		{"four decimals", func(r *cardgateway.RefundRequest) { r.Amount = decimal.RequireFromString("1.0001") }, "amount format"},
		{"long remark", func(r *cardgateway.RefundRequest) { r.Remark = strings.Repeat("é", 256) }, "remark length"},
		{"a field's name in Extra", func(r *cardgateway.RefundRequest) { r.Extra = map[string]any{"merchantRefundId": "r-2"} }, "merchantRefundId reserved"},
		{"a card in Extra", func(r *cardgateway.RefundRequest) { r.Extra = map[string]any{"cardNumber": "1"} }, "cardNumber reserved"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent = ""
			req := clienttest.RefundRequest()
			tt.change(&req)
			_, err := c.CreateRefund(t.Context(), req)
			if got := sent + strings.Join(clienttest.Problems(err), ", "); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		})
	}
}

// TestResolveRefund: what the pages of a search mean for a refund, and that what was returned once is never forgotten.
func TestResolveRefund(t *testing.T) {
	other := strings.Replace(clienttest.RefundRow(111, "5", ""), "r-1", "r-0", 1)
	for _, tt := range []struct {
		name  string
		pages pages
		want  string
	}{
		{"refunded", pages{clienttest.Page(clienttest.RefundRow(111, "9", ""))}, "refunded"},
		{"refunded, beside another refund of the payment", pages{clienttest.Page(other, clienttest.RefundRow(111, "9", ""))}, "refunded"},
		{"refused for good", pages{clienttest.Page(clienttest.RefundRow(112, "9", ""))}, "declined"},
		{"refused for good, beside another refund of the payment", pages{clienttest.Page(other, clienttest.RefundRow(112, "9", ""))}, "declined"},
		{"accepted, then refunded", pages{clienttest.Page(clienttest.RefundRow(110, "9", "")), clienttest.Page(clienttest.RefundRow(111, "9", ""))}, "refunded"},
		{"accepted to the end", slices.Repeat(pages{clienttest.Page(clienttest.RefundRow(110, "9", ""))}, 100), "processing"},
		{"refunded twice", pages{clienttest.Page(clienttest.RefundRow(111, "9", ""), clienttest.RefundRow(111, "10", ""))}, "conflict"},
		{"refused and refunded", pages{clienttest.Page(clienttest.RefundRow(112, "9", ""), clienttest.RefundRow(111, "10", ""))}, "refunded"},
		{
			"refunded, beside another refund with the same id of the gateway", pages{clienttest.Page(strings.Replace(other, `"5"`, `"9"`, 1), clienttest.RefundRow(111, "9", ""))},
			"refunded",
		},
		{"refunded twice, without the gateway's ids", pages{clienttest.Page(clienttest.RefundRow(111, "", ""), clienttest.RefundRow(111, "", ""))}, "conflict"},
		{"refunded and refused, with one id", pages{clienttest.Page(clienttest.RefundRow(111, "9", ""), clienttest.RefundRow(112, "9", ""))}, "unknown"},
		{"refused twice", slices.Repeat(pages{clienttest.Page(clienttest.RefundRow(112, "9", ""), clienttest.RefundRow(112, "10", ""))}, 100), "unknown"},
		{"another refund of another payment", slices.Repeat(pages{clienttest.Page(strings.Replace(other, `"77"`, `"78"`, 1))}, 100), "unknown"},
		{"no refund id", slices.Repeat(pages{clienttest.Page(strings.Replace(clienttest.RefundRow(111, "9", ""), "r-1", "", 1))}, 100), "unknown"},
		{"never there", pages{}, "not found"},
		{"only another refund of the payment", slices.Repeat(pages{clienttest.Page(other)}, 100), "not found"},
		{"the refund, whose id the gateway has changed", slices.Repeat(pages{clienttest.Page(strings.Replace(clienttest.RefundRow(111, "9", ""), "r-1", " R&#45;1", 1))}, 100), "unknown"},
		{"the refund under another id, then nothing", pages{clienttest.Page(strings.Replace(clienttest.RefundRow(111, "9", ""), "r-1", "shop-r-1", 1))}, "unknown"},
		{"the refund, under the gateway's own id and its own", slices.Repeat(pages{clienttest.Page(clienttest.RefundRow(111, "9", `,"merchantRefundId":"8801"`))}, 100), "unknown"},
		{"a refund of another amount, with an id alike", slices.Repeat(pages{clienttest.Page(strings.NewReplacer("r-1", "r-10", "12.50", "12.51").Replace(clienttest.RefundRow(111, "9", "")))}, 100), "not found"},
		{"refused for good, beside another refund with an id alike", pages{clienttest.Page(strings.Replace(other, "r-0", "r-10", 1), clienttest.RefundRow(112, "9", ""))}, "declined"},
		{"another payment's", slices.Repeat(pages{clienttest.Page(strings.Replace(clienttest.RefundRow(111, "9", ""), `"77"`, `"78"`, 1))}, 100), "unknown"},
		{"another amount, then nothing", pages{clienttest.Page(strings.Replace(clienttest.RefundRow(111, "9", ""), "12.50", "12.51", 1))}, "unknown"},
		{"a code that says nothing, then nothing", pages{clienttest.Page(clienttest.RefundRow(100, "9", ""))}, "unknown"},
		{"a row that cannot be read, then nothing", pages{clienttest.Page(strings.Replace(clienttest.RefundRow(111, "9", ""), `"12.50"`, "true", 1))}, "unknown"},
		{"accepted, then nothing", pages{clienttest.Page(clienttest.RefundRow(110, "9", ""))}, "unknown"},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			c := resolver(t, &tt.pages)
			r, err := c.ResolveRefund(t.Context(), cardgateway.ResolveRefundQuery{
				UniqueID: "77", RefundTransactionID: "r-1", Amount: decimal.RequireFromString("12.50"), SentAt: time.Now(), Wait: 20 * time.Second,
			})
			if got := refundOutcome(r, err); got != tt.want {
				t.Fatalf("got %q (%v), want %q", got, err, tt.want)
			}
			clienttest.CheckOneSentinel(t, err)
			if conflict, ok := errors.AsType[*cardgateway.RefundConflictError](err); ok && (conflict.RefundTransactionID != "r-1" || len(conflict.Refunds) != 2) {
				t.Errorf("got %+v", conflict)
			}
			if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok && (unknown.Op != "ResolveRefund" || unknown.UniqueID != "77" ||
				unknown.RefundTransactionID != "r-1" || !unknown.Amount.Equal(decimal.RequireFromString("12.50")) || unknown.SentAt.IsZero() || unknown.Cause == nil) {
				t.Errorf("got %+v", unknown)
			}
			if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok && unknown.Seen {
				if _, err := c.ResolveRefund(t.Context(), unknown.Query()); errors.Is(err, cardgateway.ErrNotFound) {
					t.Errorf("resolved again, nothing found: got %v", err)
				}
			}
		})
	}
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL})
	missing := []string{"uniqueId required", "refundTransactionId required", "amount required", "SentAt required"}
	for wait, want := range map[time.Duration][]string{0: missing, -1: append(missing[:4:4], "Wait range")} {
		_, err := c.ResolveRefund(t.Context(), cardgateway.ResolveRefundQuery{Wait: wait})
		if diff := cmp.Diff(want, clienttest.Problems(err)); diff != "" {
			t.Errorf("an empty query, Wait %v (-want +got):\n%s", wait, diff)
		}
	}
	_, err := c.ResolveRefund(t.Context(), cardgateway.ResolveRefundQuery{
		UniqueID: "a", RefundTransactionID: strings.Repeat("x", 129), Amount: decimal.RequireFromString("1.0001"), SentAt: time.Now(),
	})
	if diff := cmp.Diff([]string{"uniqueId format", "refundTransactionId length", "amount format"}, clienttest.Problems(err)); diff != "" {
		t.Errorf("wrong values (-want +got):\n%s", diff)
	}
}

// TestResolveRefundReturnsTheLatest: of several declined rows, the error has the one that was requested last.
func TestResolveRefundReturnsTheLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(id, day string) string {
			return clienttest.RefundRow(112, id, `,"refundRequestAt":"2026-11-`+day+` 10:00:00"`)
		}
		search := slices.Repeat(pages{clienttest.Page(at("8", "01"), at("9", "03"), at("10", "02"))}, 100)
		_, err := resolver(t, &search).ResolveRefund(t.Context(), cardgateway.ResolveRefundQuery{
			UniqueID: "77", RefundTransactionID: "r-1", Amount: decimal.RequireFromString("12.50"), SentAt: time.Now(), Wait: time.Second,
		})
		unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err)
		if !ok || unknown.Refund == nil || unknown.Refund.RefundUniqueID != "9" || !unknown.Seen {
			t.Errorf("got %+v", err)
		}
	})
}

// TestResolveRefundShowsNoCredential: what a row repeats of the credentials is masked, in the result and in every error. A short
// one, which occurs in other texts by chance, is masked in errors only.
func TestResolveRefundShowsNoCredential(t *testing.T) {
	for _, tt := range []struct{ code, key string }{
		{"110", clienttest.SecretKey}, {"111", clienttest.SecretKey}, {"112", clienttest.SecretKey}, {"999", clienttest.SecretKey},
		{"112", "k3yk3"}, {"999", "k3yk3"},
	} {
		clienttest.RunVirtual(t, tt.code, func(t *testing.T) {
			row := `{"code":` + tt.code + `,"message":"` + tt.key + `","refundTransactionId":"r-1","uniqueId":"77","refundUniqueId":"9","refundAmount":"12.50"}`
			search := slices.Repeat(pages{clienttest.Page(row)}, 100)
			c := clienttest.NewClient(t, cardgateway.Config{
				BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: &search},
				Authenticate: cardgateway.BasicAuth(clienttest.Merchant, tt.key),
			})
			r, err := c.ResolveRefund(t.Context(), cardgateway.ResolveRefundQuery{
				UniqueID: "77", RefundTransactionID: "r-1", Amount: decimal.RequireFromString("12.50"), SentAt: time.Now(), Wait: 1,
			})
			if declined, ok := errors.AsType[*cardgateway.RefundDeclinedError](err); ok {
				r = declined.Refund
			}
			if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok {
				r = unknown.Refund
			}
			if text := fmt.Sprintf("%+v %v", r, err); strings.Contains(text, tt.key) || r != nil && r.Message != "***" {
				t.Errorf("code %s: got %s", tt.code, text)
			}
		})
	}
}

// TestResolveRefundObserved: the observer receives the refund's outcome and code.
func TestResolveRefundObserved(t *testing.T) {
	for code, want := range map[int]cardgateway.Outcome{
		110: cardgateway.OutcomeProcessing, 111: cardgateway.OutcomeApproved, 112: cardgateway.OutcomeDeclined,
	} {
		synctest.Test(t, func(t *testing.T) {
			var got []cardgateway.CallInfo
			search := slices.Repeat(pages{clienttest.Page(clienttest.RefundRow(code, "9", ""))}, 100)
			c := clienttest.NewClient(t, cardgateway.Config{
				BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: &search},
				Observe: func(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
					return ctx, func(info cardgateway.CallInfo) {
						if op.Name == "ResolveRefund" {
							got = append(got, info)
						}
					}
				},
			})
			_, err := c.ResolveRefund(t.Context(), cardgateway.ResolveRefundQuery{
				UniqueID: "77", RefundTransactionID: "r-1", Amount: decimal.RequireFromString("12.50"), SentAt: time.Now(), Wait: 1,
			})
			if len(got) != 1 || got[0].Outcome != want || int(got[0].Code) != code || !errors.Is(err, got[0].Err) {
				t.Errorf("code %d: got %+v, want %s", code, got, want)
			}
		})
	}
}

func TestUploadTrackingNumbers(t *testing.T) {
	shipment := cardgateway.Shipment{UniqueID: "77", Company: "SF", Number: "SF1", Remark: "left", Extra: map[string]any{"floor": 2}}
	for _, tt := range []struct {
		name      string
		shipments []cardgateway.Shipment
		responses []clienttest.Scripted
		want      error
		sent      int
	}{
		{"taken", []cardgateway.Shipment{shipment, {UniqueID: "78", Company: "ST"}}, []clienttest.Scripted{clienttest.Gives(200, `{"code":141,"message":"upload successful"}`)}, nil, 1},
		{"99", slices.Repeat([]cardgateway.Shipment{shipment}, 99), []clienttest.Scripted{clienttest.Gives(200, `{"code":141}`)}, nil, 1},
		{"100", slices.Repeat([]cardgateway.Shipment{shipment}, 100), nil, cardgateway.ErrInvalidRequest, 0},
		{"none", nil, nil, cardgateway.ErrInvalidRequest, 0},
		{"no company", []cardgateway.Shipment{{UniqueID: "77"}}, nil, cardgateway.ErrInvalidRequest, 0},
		{"no payment", []cardgateway.Shipment{{Company: "SF"}}, nil, cardgateway.ErrInvalidRequest, 0},
		{"not taken", []cardgateway.Shipment{shipment}, []clienttest.Scripted{clienttest.Gives(200, `{"code":142,"message":"Upload data is empty"}`)}, cardgateway.ErrRefused, 1},
		{"too many requests", []cardgateway.Shipment{shipment}, slices.Repeat([]clienttest.Scripted{clienttest.Gives(429, "")}, 4), cardgateway.ErrQueryFailed, 4},
		{"no company in the second", []cardgateway.Shipment{shipment, {UniqueID: "78"}}, nil, cardgateway.ErrInvalidRequest, 0},
		{"not authorized", []cardgateway.Shipment{shipment}, []clienttest.Scripted{clienttest.Gives(401, "")}, cardgateway.ErrRefused, 1},
		{"turned away by a page", []cardgateway.Shipment{shipment}, []clienttest.Scripted{clienttest.Gives(403, "<html>")}, cardgateway.ErrRefused, 1},
		{"broken, then taken", []cardgateway.Shipment{shipment}, []clienttest.Scripted{clienttest.Resets, clienttest.Gives(503, ""), clienttest.Gives(200, `{"code":141}`)}, nil, 3},
		{"not readable", []cardgateway.Shipment{shipment}, []clienttest.Scripted{clienttest.Gives(200, "<html>")}, cardgateway.ErrQueryFailed, 4},
		{"no code, then taken", []cardgateway.Shipment{shipment}, []clienttest.Scripted{clienttest.Gives(200, `{}`), clienttest.Gives(200, `{"code":null}`), clienttest.Gives(200, `{"code":141}`)}, nil, 3},
		{"a code that is none", []cardgateway.Shipment{shipment}, []clienttest.Scripted{clienttest.Gives(200, `{"code":"x"}`)}, cardgateway.ErrQueryFailed, 4},
	} {
		clienttest.RunVirtual(t, tt.name, func(t *testing.T) {
			s := clienttest.Script{Responses: tt.responses}
			err := s.Client(t, cardgateway.Config{}).UploadTrackingNumbers(t.Context(), tt.shipments)
			if !errors.Is(err, tt.want) || len(s.Times()) != tt.sent {
				t.Errorf("got %v after %d attempts, want %v after %d", err, len(s.Times()), tt.want, tt.sent)
			}
			if err != nil && !strings.Contains(err.Error(), "UploadTrackingNumbers: ") {
				t.Errorf("got %v, which does not name the operation", err)
			}
			for name, words := range map[string]string{
				"not taken": "Upload data is empty", "not authorized": "HTTP 401", "turned away by a page": "it does not look like a response",
			} {
				if tt.name == name && !strings.Contains(err.Error(), words) {
					t.Errorf("got %v, want in it %q", err, words)
				}
			}
		})
	}
	var sent any
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: clienttest.Keeping(t, &sent, `{"code":141}`)})
	if err := c.UploadTrackingNumbers(t.Context(), []cardgateway.Shipment{shipment, {UniqueID: "78", Company: "ST"}}); err != nil {
		t.Fatal(err)
	}
	want := []any{
		map[string]any{"uniqueId": "77", "company": "SF", "number": "SF1", "remark": "left", "floor": 2.0},
		map[string]any{"uniqueId": "78", "company": "ST"},
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	invalid, ok := errors.AsType[*cardgateway.ValidationError](c.UploadTrackingNumbers(t.Context(), []cardgateway.Shipment{shipment, {UniqueID: "x"}}))
	if !ok || !strings.Contains(invalid.Error(), "shipments[1].uniqueId") || !strings.Contains(invalid.Error(), "shipments[1].company is required") {
		t.Errorf("the second shipment is wrong: got %v", invalid)
	}
}
