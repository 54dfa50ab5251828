//go:build browser

package main

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// weight is what a browser has loaded to show a page.
type weight struct {
	Requests int
	Bytes    int      // received, with headers
	Foreign  []string // from elsewhere
	Shift    float64  // cumulative layout shift
}

const weighing = `new Promise(done => {
	let shift = 0
	new PerformanceObserver(list => list.getEntries().forEach(e => { shift += e.value })).observe({type: "layout-shift", buffered: true})
	setTimeout(() => {
		const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
		done({
			Requests: all.length, Bytes: all.reduce((sum, e) => sum + e.transferSize, 0), Shift: shift,
			Foreign: all.map(e => e.name).filter(name => !name.startsWith(location.origin)),
		})
	}, 300)
})`

// TestBrowserWeight loads pages with an empty cache: they are small, load nothing from elsewhere, and nothing moves while they load.
func TestBrowserWeight(t *testing.T) {
	t.Parallel()
	b := newTab(t, open(t, withoutRun))
	b.use(screens[0])
	b.saveCard(sandbox.Approved)
	lost := b.loseAnswer("pillar")
	b.visit("/")
	b.click("#add-pillar")
	for _, path := range []string{"/", "/cart", "/checkout", "/orders", "/orders/" + lost, "/orders/" + lost + "/story", "/cards", "/weekly", "/sandbox"} {
		b.emptyCache()
		b.visit(path)
		got := evaluate[weight](b, weighing, chromedp.EvalAwaitPromise)
		path = strings.ReplaceAll(path, lost, "{id}")
		if got.Requests > 12 || got.Bytes > 50_000 || len(got.Foreign) > 0 || got.Shift > 0.01 { // 0.1 counts as good
			t.Errorf("%s: %+v; want at most 12 requests and 50,000 bytes, all of the shop, and a shift of at most 0.01", path, got)
		}
		t.Logf("%s: %d requests, %d bytes, layout shift %.3f", path, got.Requests, got.Bytes, got.Shift)
	}
}

func (b *tab) emptyCache() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.ClearBrowserCache, cdp.Empty{})
		return err
	}))
}
