package iso4217_test

import (
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/iso4217"
)

func TestDecimals(t *testing.T) {
	for _, tt := range []struct {
		currency string
		want     int
		known    bool
	}{
		{"USD", 2, true}, {"EUR", 2, true}, {"CNY", 2, true}, {"ISK", 0, true}, {"JPY", 0, true}, {"KRW", 0, true}, {"VND", 0, true},
		{"XCG", 2, true}, {"XAD", 2, true}, {"KWD", 3, true}, {"BHD", 3, true}, {"TND", 3, true}, {"", 0, false}, {"usd", 0, false}, {"XXX", 0, false}, {"BTC", 0, false},
	} {
		t.Run(tt.currency, func(t *testing.T) {
			if n, known := iso4217.Decimals(tt.currency); n != tt.want || known != tt.known {
				t.Errorf("%q: got %d, %t, want %d, %t", tt.currency, n, known, tt.want, tt.known)
			}
		})
	}
}
