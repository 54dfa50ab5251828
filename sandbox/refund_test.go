package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRefunds(t *testing.T) {
	g := New(Options{})
	a := send(t, g, "POST", "/api/subscription", body("t", nil)) // 8.80
	id := a.str("uniqueId")
	refund := func(amount string) answer {
		return send(t, g, "POST", "/api/refund", map[string]any{
			"uniqueId": id, "amount": json.Number(amount), "refundTransactionId": "r" + amount,
		})
	}
	wantCode(t, refund("8.00"), 110)
	wantCode(t, refund("0.81"), 112)
	if _, err := g.Refund(id, "", ""); err != nil {
		t.Fatal(err)
	}
	wantCode(t, refund("0.01"), 112)
	list := send(t, g, "GET", "/search/list/refund"+thisMonth()+"&uniqueId="+id, nil)
	var amounts []string
	for _, row := range list.rows() {
		amounts = append(amounts, row["refundAmount"].(string))
		for _, name := range []string{"code", "message", "timestamp", "merchantRefundId", "uniqueId", "refundUniqueId",
			"refundCurrency", "refundRequestAt", "refundAt"} {
			if row[name] == nil {
				t.Errorf("refund without %s: %v", name, row)
			}
		}
	}
	slices.Sort(amounts)
	if want := []string{"0.80", "8.00"}; !slices.Equal(amounts, want) {
		t.Errorf("refunds of %v, want %v", amounts, want)
	}
	if _, err := g.Refund("1", "1", ""); err == nil {
		t.Error("a refund of an unknown order succeeded")
	}
}

// refundBody is a request of the published POST /api/refund.
func refundBody(uniqueID, refundTransactionID, amount string) map[string]any {
	return map[string]any{"uniqueId": uniqueID, "refundTransactionId": refundTransactionID, "amount": amount}
}

// TestRepeatedRefund checks the response to a repeated refundTransactionId, and how many times money is refunded.
func TestRepeatedRefund(t *testing.T) {
	tests := []struct {
		mode                 RefundDuplicates
		same, other          int // codes of the repeated request, and of one with another amount
		givenBack, rowsFound int
	}{
		{RefundDuplicatesRefused, 501, 501, 1, 1},
		{RefundDuplicatesRepeated, 110, 501, 1, 1},
		{RefundDuplicatesExecuted, 110, 110, 3, 3},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.mode), func(t *testing.T) {
			g := New(Options{RefundDuplicates: tt.mode})
			id := send(t, g, "POST", "/api/subscription", body("t", nil)).str("uniqueId") // 8.80
			first := send(t, g, "POST", "/api/refund", refundBody(id, "r", "1.00"))
			wantCode(t, first, 110)
			same := send(t, g, "POST", "/api/refund", refundBody(id, "r", "1.000"))
			wantCode(t, same, tt.same)
			if tt.mode == RefundDuplicatesRepeated && same.str("refundUniqueId") != first.str("refundUniqueId") {
				t.Errorf("the repeated request was answered with %s, the first with %s", same.text, first.text)
			}
			wantCode(t, send(t, g, "POST", "/api/refund", refundBody(id, "r", "2.00")), tt.other)
			if got := g.Refunded("r"); got != tt.givenBack {
				t.Errorf("Refunded = %d, want %d", got, tt.givenBack)
			}
			rows := send(t, g, "GET", "/search/list/refund"+thisMonth()+"&refundTransactionId=r", nil).rows()
			if len(rows) != tt.rowsFound {
				t.Errorf("%d rows, want %d", len(rows), tt.rowsFound)
			}
		})
	}
}

// TestRefundStates: 110 until it is settled, then 111 or 112; after 112 the amount can be refunded again.
func TestRefundStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mailbox{statuses: []int{200}}
		g := New(Options{RefundSettleAfter: time.Hour, Notifications: Notifications{Transport: m}})
		defer g.Close()
		id := send(t, g, "POST", "/api/subscription", body("t", nil)).str("uniqueId")
		row := func(refundTransactionID string) map[string]any {
			t.Helper()
			q := rangeQuery(time.Now().Add(-5*time.Hour), time.Now().Add(5*time.Hour), g.opts.Location, 1, 10)
			rows := send(t, g, "GET", "/search/list/refund"+q+"&refundTransactionId="+refundTransactionID, nil).rows()
			if len(rows) != 1 {
				t.Fatalf("%d rows of %s, want 1", len(rows), refundTransactionID)
			}
			return rows[0]
		}
		a := send(t, g, "POST", "/api/refund", refundBody(id, "later", "8.00"))
		if a.code() != 110 || a.data["refundAt"] != nil {
			t.Errorf("response %s, want code 110 without refundAt", a.text)
		}
		if r := row("later"); r["code"] != json.Number("110") || r["refundAt"] != nil || g.Refunded("later") != 0 {
			t.Errorf("before its time: %v, refunded %d times", r, g.Refunded("later"))
		}
		wantCode(t, send(t, g, "POST", "/api/refund", refundBody(id, "too much", "0.81")), 112)
		time.Sleep(time.Hour)
		synctest.Wait() // until the notification has arrived
		if r := row("later"); r["code"] != json.Number("111") || r["refundAt"] == nil || g.Refunded("later") != 1 {
			t.Errorf("after its time: %v, refunded %d times", r, g.Refunded("later"))
		}
		wantCode(t, send(t, g, "POST", "/api/refund", refundBody(id, "refused", "0.80")), 110)
		if g.SettleRefund("refused", false) != nil || g.SettleRefund("refused", true) == nil || g.SettleRefund("nobody", true) == nil {
			t.Error("SettleRefund does not settle exactly the refund that waits")
		}
		if r := row("refused"); r["code"] != json.Number("112") || g.Refunded("refused") != 0 {
			t.Errorf("refused: %v, refunded %d times", r, g.Refunded("refused"))
		}
		wantCode(t, send(t, g, "POST", "/api/refund", refundBody(id, "again", "0.80")), 110)
		synctest.Wait()
		var codes []string
		for _, n := range m.got {
			if n["transactionType"] == "Refund" {
				codes = append(codes, fmt.Sprint(n["code"], " ", n["merchantRefundId"]))
			}
		}
		if want := []string{"111 later", "112 refused"}; !slices.Equal(codes, want) {
			t.Errorf("notifications %v, want %v", codes, want)
		}
	})
}

func TestRefundRowNames(t *testing.T) {
	g := New(Options{Responses: Responses{RefundTransactionIDInRows: true}})
	id := send(t, g, "POST", "/api/subscription", body("t", nil)).str("uniqueId")
	wantCode(t, send(t, g, "POST", "/api/refund", refundBody(id, "r", "1.00")), 110)
	row := send(t, g, "GET", "/search/list/refund"+thisMonth(), nil).rows()[0]
	if row["refundTransactionId"] != "r" || row["merchantRefundId"] != nil {
		t.Errorf("row %v, want refundTransactionId alone", row)
	}
}

func TestTrackingNumbers(t *testing.T) {
	g := New(Options{})
	id := send(t, g, "POST", "/api/subscription", body("t", nil)).str("uniqueId")
	entry := func(changes map[string]any) map[string]any {
		m := map[string]any{"uniqueId": id, "company": "SF", "number": "SF1683175209651"}
		for name, value := range changes {
			m[name] = value
		}
		return m
	}
	many := func(n int) []any {
		list := make([]any, n)
		for i := range list {
			list[i] = entry(map[string]any{"number": fmt.Sprint(i)})
		}
		return list
	}
	tests := []struct {
		name string
		body any
		code int
		text string // part of the message
	}{
		{"one", many(1), 141, "upload successful"},
		{"99", many(99), 141, ""},
		{"100", many(100), 142, "99"},
		{"none", many(0), 142, "Upload data is empty"},
		{"unknown uniqueId", []any{entry(nil), entry(map[string]any{"uniqueId": "1"})}, 142, "[1].uniqueId"},
		{"uniqueId as a number", []any{entry(map[string]any{"uniqueId": json.Number(id)})}, 141, ""},
		{"no number", []any{map[string]any{"uniqueId": id, "company": "SF"}}, 141, ""},
		{"an object", entry(nil), 500, "array"},
		{"null", "null", 500, "array"},
		{"entry no object", []any{1}, 500, "[0]"},
		{"nothing", "", 500, "array"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := send(t, g, "POST", "/upload/trackingNumber", tt.body)
			if a.code() != tt.code || !strings.Contains(a.text, tt.text) {
				t.Errorf("response %s, want code %d and %q", a.text, tt.code, tt.text)
			}
		})
	}
	last := []any{entry(map[string]any{"number": "first"}), entry(map[string]any{"number": "second", "remark": "parcel"})}
	wantCode(t, send(t, g, "POST", "/upload/trackingNumber", last), 141)
	wantCode(t, send(t, g, "POST", "/upload/trackingNumber", many(100)), 142) // changes nothing
	want := TrackingNumber{UniqueID: id, Company: "SF", Number: "second", Remark: "parcel"}
	if got, err := g.TrackingNumber(id); err != nil || got != want {
		t.Errorf("TrackingNumber = %+v, %v, want %+v", got, err, want)
	}
	if _, err := g.TrackingNumber("1"); err == nil {
		t.Error("an unknown transaction has a tracking number")
	}
}

// TestRepeatedRest: a refund of all that is left can be repeated like one with an amount, and is another request than one with it.
func TestRepeatedRest(t *testing.T) {
	g := New(Options{RefundDuplicates: RefundDuplicatesRepeated})
	id := send(t, g, "POST", "/api/subscription", body("t", nil)).str("uniqueId")
	first, err := g.Refund(id, "", "r")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := g.Refund(id, "", "r"); again != first || err != nil {
		t.Errorf("repeated: got %q and error %v, want %q", again, err, first)
	}
	if _, err := g.Refund(id, g.ledger.find(id).amount, "r"); err == nil {
		t.Error("another request with this id is taken for a repetition")
	}
	if n := g.Refunded("r"); n != 1 {
		t.Errorf("refunded %d times", n)
	}
}
