package journal

import "testing"

// TestParseShop: a shop is read as it was written; a text in another form does no harm.
func TestParseShop(t *testing.T) {
	for _, shop := range []Shop{{"https://gateway.test", "7"}, {"https://gateway.test/a b", "7"}, {"", ""}, {"https://gateway.test", ""}} {
		if got := parseShop(shop.String()); got != shop {
			t.Errorf("%q: got %q", shop, got)
		}
	}
	for text, want := range map[string]Shop{"": {}, "nobody": {Gateway: "nobody"}} {
		if got := parseShop(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
