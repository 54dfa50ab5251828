package report

import (
	"fmt"
	"math"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/amount"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/terminal"
)

// charts are the charts of one currency.
type charts struct {
	Currency string
	Says     string
	Charts   []chart
}

// charts returns the charts of every currency.
func (p *Page) charts() (all []charts) {
	for _, currency := range p.Days.names() {
		bars, starts, unit := p.Days.series(currency)
		of := func(f func(*dayOf) float64) (values []float64) {
			for i := range bars {
				values = append(values, f(&bars[i]))
			}
			return values
		}
		var total dayOf
		for i := range bars {
			total.approved += bars[i].approved
			total.declined += bars[i].declined
			total.value = total.value.Add(bars[i].value)
			total.refunded = total.refunded.Add(bars[i].refunded)
		}
		rate := acceptance(&total)
		c := charts{Currency: terminal.Clean(currency), Says: fmt.Sprintf("%s %s in %s; acceptance %s; refunded %s %s.",
			amount.ForPeople(total.value, currency), terminal.Clean(currency), plural(total.approved, "payment"), percentText(rate), amount.ForPeople(total.refunded, currency), terminal.Clean(currency))}
		inUnits := func(f float64) string { return short(f) }
		c.Charts = []chart{
			newChart("Value per "+unit, "value", of(func(d *dayOf) float64 { return d.value.InexactFloat64() }), starts, false, 0, inUnits),
			newChart("Payments per "+unit, "volume", of(func(d *dayOf) float64 { return float64(d.approved) }), starts, false, 0, inUnits),
			newChart("Acceptance rate", "rate", of(acceptance), starts, true, 1, percentText),
			newChart("Refunded per "+unit, "refunds", of(func(d *dayOf) float64 { return d.refunded.InexactFloat64() }), starts, false, 0, inUnits),
		}
		for i := range c.Charts {
			c.Charts[i].Says = fmt.Sprintf("%s, %s, %s", c.Charts[i].Title, c.Currency, p.rangeText())
		}
		all = append(all, c)
	}
	return all
}

// acceptance returns the share of approved payments among the approved and declined ones, or NaN if there are none.
func acceptance(d *dayOf) float64 {
	if d.approved+d.declined == 0 {
		return math.NaN()
	}
	return float64(d.approved) / float64(d.approved+d.declined)
}
