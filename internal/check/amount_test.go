package check_test

import (
	"testing"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/check"
)

func TestAmount(t *testing.T) {
	const above, digits = "range: must be above zero", "format: has more than 12 digits"
	for _, tt := range []struct {
		name   string
		amount decimal.Decimal
		want   []string
	}{
		{"usual", decimal.RequireFromString("12.50"), nil},
		{"the smallest", decimal.RequireFromString("0.001"), nil},
		{"the greatest", decimal.RequireFromString("999999999999"), nil},
		{"the greatest with decimals", decimal.RequireFromString("999999999.999"), nil},
		{"an exponent", decimal.New(1, 11), nil},
		{"zero", decimal.Decimal{}, []string{above}},
		{"negative", decimal.New(-1, 0), []string{above}},
		{"four decimals", decimal.RequireFromString("0.0001"), []string{"format: has 4 decimals, at most 3 are allowed"}},
		{"trailing zeros count", decimal.RequireFromString("1.0000"), []string{"format: has 4 decimals, at most 3 are allowed"}},
		{"thirteen digits", decimal.RequireFromString("1234567890123"), []string{digits}},
		{"thirteen digits with decimals", decimal.RequireFromString("1234567890.123"), []string{digits}},
		{"an exponent of thirteen digits", decimal.New(1, 12), []string{digits}},
		{"the greatest exponent", decimal.New(1, 1<<31-1), []string{digits}},
		{"a very small exponent", decimal.New(1, -2_000_000_000), []string{"format: has 2000000000 decimals, at most 3 are allowed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantFound(t, tt.name, func(v *check.Violations) { v.Amount("m", tt.amount) }, tt.want...)
		})
	}
}

func TestDecimals(t *testing.T) {
	for _, tt := range []struct {
		amount, currency string
		want             []string
	}{
		{"1.25", "USD", nil}, {"1.250", "USD", nil}, {"12", "JPY", nil}, {"12.000", "JPY", nil}, {"1.234", "KWD", nil}, {"1.234", "XXX", nil}, {"1.234", "", nil},
		{"1.234", "USD", []string{"format: has more than the 2 decimals of USD"}},
		{"12.5", "JPY", []string{"format: has more than the 0 decimals of JPY"}},
	} {
		t.Run(tt.amount, func(t *testing.T) {
			wantFound(t, tt.amount+" "+tt.currency, func(v *check.Violations) {
				v.Decimals("m", decimal.RequireFromString(tt.amount), tt.currency)
			}, tt.want...)
		})
	}
}

func TestWithoutZeros(t *testing.T) {
	for _, tt := range []struct{ amount, currency, want string }{
		{"12.5000", "USD", "12.50"}, {"12.500", "USD", "12.500"}, {"12.50", "USD", "12.50"}, {"12.5010", "USD", "12.501"},
		{"12.5001", "USD", "12.5001"}, {"1.0000", "JPY", "1"}, {"12.5010", "KWD", "12.501"}, {"12.5010", "", "12.501"}, {"0.0000", "USD", "0.00"}, {"1e-17", "USD", "1e-17"}, {"1e11", "USD", "1e11"},
	} {
		t.Run(tt.amount+tt.currency, func(t *testing.T) {
			got, want := check.WithoutZeros(decimal.RequireFromString(tt.amount), tt.currency), decimal.RequireFromString(tt.want)
			if !got.Equal(want) || got.Exponent() != want.Exponent() {
				t.Errorf("%s %s: got %v, want %s", tt.amount, tt.currency, got, tt.want)
			}
		})
	}
}

func TestPrice(t *testing.T) {
	long := []string{"format: has more than 32 digits or 16 decimals"}
	for _, tt := range []struct {
		name  string
		price decimal.Decimal
		want  []string
	}{
		{"usual", decimal.RequireFromString("12.50"), nil},
		{"zero", decimal.Decimal{}, nil},
		{"negative, as a discount", decimal.New(-1, 0), nil},
		{"16 decimals", decimal.New(1, -16), nil},
		{"17 decimals", decimal.New(1, -17), long},
		{"32 digits", decimal.RequireFromString("12345678901234567890123456789012"), nil},
		{"33 digits", decimal.RequireFromString("123456789012345678901234567890123"), long},
		{"a great exponent", decimal.New(1, 33), long},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantFound(t, tt.name, func(v *check.Violations) { v.Price("m", tt.price) }, tt.want...)
		})
	}
}

func TestCurrency(t *testing.T) {
	const letters, unknown = "format: must be 3 capital letters", "format: is not a currency of ISO 4217"
	for _, tt := range []struct {
		code string
		any  bool
		want []string
	}{
		{"USD", false, nil}, {"XCG", false, nil}, {"XAD", false, nil}, {"XYZ", false, []string{unknown}}, {"XYZ", true, nil}, {"XAU", false, []string{unknown}},
		{"usd", true, []string{letters}}, {"US", false, []string{letters}}, {"USD ", true, []string{letters}},
	} {
		t.Run(tt.code, func(t *testing.T) {
			wantFound(t, tt.code, func(v *check.Violations) { v.Currency("m", tt.code, tt.any) }, tt.want...)
		})
	}
}
