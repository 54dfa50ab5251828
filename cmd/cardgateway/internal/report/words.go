package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/match"
	"github.com/shopspring/decimal"
)

func percentText(part float64) string {
	if math.IsNaN(part) {
		return "unknown"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*part), ".0") + "%"
}

// short formats a number on an axis.
func short(f float64) string {
	for _, unit := range []struct {
		above float64
		name  string
	}{{1e9, "bn"}, {1e6, "m"}, {1e4, "k"}} {
		if f >= unit.above {
			by := unit.above
			if unit.name == "k" {
				by = 1e3
			}
			return strings.TrimSuffix(fmt.Sprintf("%.1f", f/by), ".0") + " " + unit.name
		}
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0")
}

func about(c match.Class) match.About {
	i := slices.IndexFunc(match.Classes, func(a match.About) bool { return a.Class == c })
	return match.Classes[i]
}

func signed(d decimal.Decimal, currency string) string {
	if d.IsPositive() {
		return "+" + amount.ForPeople(d, currency)
	}
	return amount.ForPeople(d, currency)
}

func count(n int) string { return amount.ForPeople(decimal.NewFromInt(int64(n)), "JPY") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}

func ageText(age time.Duration) string {
	if age < 0 {
		return "unknown"
	}
	return plural(int(age/(24*time.Hour)), "day")
}
