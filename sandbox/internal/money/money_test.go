package money

import "testing"

func TestShown(t *testing.T) {
	for _, tt := range []struct{ amount, currency, want string }{
		{"12.5", "USD", "12.50 USD"}, {"12", "EUR", "12.00 EUR"}, {"12.125", "USD", "12.125 USD"}, {"100", "JPY", "100 JPY"},
		{"100.5", "JPY", "100.5 JPY"}, {"1.5", "KWD", "1.500 KWD"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if got := Shown(tt.amount, tt.currency); got != tt.want {
				t.Errorf("Shown(%s, %s) = %q, want %q", tt.amount, tt.currency, got, tt.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		thousandths int64
		currency    string
		want        string
	}{
		{8800, "USD", "8.80"}, {8805, "USD", "8.805"}, {100_000, "JPY", "100"}, {1, "KWD", "0.001"}, {10, "USD", "0.01"},
	} {
		t.Run(tt.want+" "+tt.currency, func(t *testing.T) {
			if got := Of(tt.thousandths, tt.currency); got != tt.want {
				t.Errorf("Of(%d, %s) = %q, want %q", tt.thousandths, tt.currency, got, tt.want)
			}
		})
	}
}
