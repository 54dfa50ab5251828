package sqlstore

import (
	"testing"

	"github.com/cardgateway/cardgateway-go/journal"
)

// TestParseShop: a shop is read as it was written; a text in another form does no harm.
func TestParseShop(t *testing.T) {
	for _, shop := range []journal.Shop{
		{Gateway: "https://gateway.test", AppID: "7"}, {Gateway: "https://gateway.test/a b", AppID: "7"}, {}, {Gateway: "https://gateway.test"},
	} {
		if got := parseShop(shop.String()); got != shop {
			t.Errorf("%q: got %q", shop, got)
		}
	}
	for text, want := range map[string]journal.Shop{"": {}, "nobody": {Gateway: "nobody"}} {
		if got := parseShop(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
