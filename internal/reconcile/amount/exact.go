package amount

import (
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// Plain writes an amount with the decimals that the gateway sent.
func Plain(d decimal.Decimal) string { return string(wire.AppendDecimal(nil, d)) }

// Exact keeps the decimals of an amount in JSON: 12.50 comes back as 12.50.
type Exact struct{ decimal.Decimal }

// MarshalJSON writes the amount as a text.
func (e Exact) MarshalJSON() ([]byte, error) { return []byte(`"` + Plain(e.Decimal) + `"`), nil }

// InJSON is an amount with the decimals of its currency, for JSON.
func InJSON(d decimal.Decimal, currency string) Exact { return Exact{Scaled(d, currency)} }
