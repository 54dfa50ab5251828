package main

import (
	"slices"

	"github.com/shopspring/decimal"
)

const currency = "USD"

// Product is something that the shop sells.
type Product struct {
	SKU   string
	Name  string
	About string
	Price decimal.Decimal
}

// catalog is the whole shop. A picture of each product is in static, under its SKU.
var catalog = []Product{
	{"pillar", "Beeswax pillar", "Burns for sixty hours and smells of summer.", price("24.00")},
	{"tealights", "Tea lights, box of thirty", "Unscented rapeseed wax, no cups to throw away.", price("12.50")},
	{"cedar", "Cedar and smoke", "A candle in a glass for the first cold evening.", price("29.00")},
	{"tapers", "Ivory tapers, a pair", "Dipped by hand, twenty-two times.", price("14.00")},
	{"orange", "Orange peel", "Bitter orange and clove, in a glass.", price("29.00")},
	{"holder", "Brass holder", "Turned from one piece, for tapers.", price("119.00")},
}

// weekly is the product of the subscription.
var weekly = Product{"weekly", "Two fresh tapers, every week", "Dipped on Monday, at your door on Thursday.", price("9.00")}

const weeks = 12

// secureFrom is the amount from which the shop requires 3D authentication.
var secureFrom = price("100.00")

func price(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func productOf(sku string) (Product, bool) {
	i := slices.IndexFunc(catalog, func(p Product) bool { return p.SKU == sku })
	if i < 0 {
		return Product{}, false
	}
	return catalog[i], true
}
