package sandbox

import (
	"encoding/json"
	"testing"
	"time"
)

// TestAppIDOfRows: rows that no payment made have the appId of Options, or none.
func TestAppIDOfRows(t *testing.T) {
	for _, appID := range []string{"", "77"} {
		t.Run("app "+appID, func(t *testing.T) {
			g := New(Options{AppID: appID, Search: Search{Arrive: 2}})
			now := time.Now()
			g.SeedOrders(SeedOptions{N: 20, From: now.Add(-time.Hour), To: now, TwiceEvery: 10})
			pay := send(t, g, "POST", "/checkout/tokenization/payment/"+g.NewToken(Approved), body("paid", map[string]any{"appId": nil}))
			check := func(what string, row map[string]any) {
				got, stated := row["appId"]
				if stated != (appID != "") || stated && got != json.Number(appID) {
					t.Errorf("%s: got appId %v, want %q", what, got, appID)
				}
			}
			check("the payment", pay.data)
			rows := send(t, g, "GET", "/search/list/order"+thisMonth()+"&pageSize=100", nil).data["data"].([]any)
			if len(rows) != 25 {
				t.Fatalf("got %d rows, want 25", len(rows))
			}
			for _, row := range rows {
				check("a row", row.(map[string]any))
			}
		})
	}
}
