package check_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/check"
)

// price and kept are amounts as a merchant's program may have them.
type (
	price decimal.Decimal
	kept  struct{ amount decimal.Decimal }
)

func (p price) MarshalJSON() ([]byte, error) { return decimal.Decimal(p).MarshalJSON() }
func (k kept) MarshalJSON() ([]byte, error)  { return k.amount.MarshalJSON() }

// TestExtraValue: whatever value is given for a member that is not defined, no number in it is long.
func TestExtraValue(t *testing.T) {
	type named struct{ decimal.Decimal }
	small, huge, tiny := decimal.New(1, 5), decimal.New(1, 100_000_000), decimal.New(1, -100_000_000)
	itself := []any{nil}
	itself[0] = itself
	long := strings.Repeat("9", 200)
	for _, tt := range []struct {
		name  string
		value any
		want  string // JSON, or nothing if it is refused
	}{
		{"nothing", nil, `null`}, {"a text", long, `"` + long + `"`}, {"a number", 12.5, `12.5`}, {"a decimal", small, `"100000"`}, {"bytes", make([]byte, 1<<17), ""},
		{"in a list", []any{1, small, []decimal.Decimal{small}}, `[1,"100000",["100000"]]`}, {"a time", time.Unix(0, 0).UTC(), `"1970-01-01T00:00:00Z"`},
		{"huge", huge, ""}, {"tiny", tiny, ""}, {"negative", tiny.Neg(), ""}, {"a pointer", &tiny, ""}, {"a null that is not", decimal.NullDecimal{Decimal: huge, Valid: true}, ""},
		{"in a list of lists", []any{[]any{1, tiny}}, ""}, {"in a map", map[string]any{"a": map[string]decimal.Decimal{"b": huge}}, ""},
		{"of another type", price(tiny), ""}, {"in a field of its own", kept{huge}, ""}, {"in a list of such", []kept{{small}, {tiny}}, ""},
		{"usual ones", []any{price(small), kept{small}}, `["100000","100000"]`},
		{"in a struct", struct{ A *named }{&named{tiny}}, ""}, {"in an array", [1]decimal.Decimal{tiny}, ""},
		{"a big number", new(big.Int).Exp(big.NewInt(10), big.NewInt(200), nil), ""}, {"a number as text", json.Number(long), ""}, {"as JSON", json.RawMessage(`{"a":[` + long + `]}`), ""},
		{"a text that is not UTF-8", []any{"M\xfcller"}, ""}, {"as a name", map[string]int{"\xff": 1}, ""}, {"as JSON that is not UTF-8", json.RawMessage("\"\xff\""), ""},
		{"a text about an escape", `\ufffd`, `"\\ufffd"`}, {"the sign of what was lost", "M\ufffdller", "\"M\ufffdller\""},
		{"itself", itself, ""}, {"a channel", make(chan int), ""}, {"many digits", decimal.RequireFromString(long), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var v check.Violations
			got, ok := v.ExtraValue("x", tt.value)
			if tt.name == "bytes" {
				if !ok || v.Len() > 0 {
					t.Errorf("bytes: got %v", v.Problems())
				}
				return
			}
			if string(got) != tt.want || ok != (tt.want != "") || ok != (v.Len() == 0) {
				t.Errorf("got %.200s, %t, %v, want %q", got, ok, v.Problems(), tt.want)
			}
		})
	}
}
