//go:build browser

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/internal/test/testprogram"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// browserTab starts Chromium until the end of the test. A test without it ends here.
func browserTab(t *testing.T) context.Context {
	t.Helper()
	path := testprogram.Browser.Path(t)
	profile, err := os.MkdirTemp("", "report-browser-")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
	)
	if os.Geteuid() == 0 { // Chromium's own sandbox does not work for root
		options = append(options, chromedp.NoSandbox)
	}
	timed, cancelTimed := context.WithTimeout(context.Background(), 30*time.Minute) // only for a browser that hangs
	allocated, stop := chromedp.NewExecAllocator(timed, options...)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		cancel()
		stop()
		cancelTimed()
		for range 50 { // its children write for a moment longer
			if os.RemoveAll(profile) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return ctx
}

// TestReportInBrowser shows a report of every kind, at a desk and on a phone, light and dark, to an accessibility checker:
// it finds nothing, and nothing has to be scrolled sideways. With CARDGATEWAY_SCREENSHOTS=1 it takes the pictures of the docs.
func TestReportInBrowser(t *testing.T) {
	t.Parallel()
	axe := readText(t, filepath.Join("..", "..", "examples", "shop", "testdata", "axe", "axe.min.js"))
	ctx := browserTab(t)
	reports := browserReports(t)
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
			err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 1240), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
				_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
				return err
			}))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range reports {
				name := fmt.Sprintf("%s-%d-%s", r.name, width, scheme)
				if err := chromedp.Do(ctx, chromedp.Navigate("file://"+r.path)); err != nil {
					t.Fatal(name, err)
				}
				look(t, ctx, name, axe)
				if r.name == "one" { // its difference is on the first screen
					bottom, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`document.querySelector(".rows tbody tr").getBoundingClientRect().bottom`))
					if err != nil || bottom > 844 {
						t.Errorf("%s: the difference ends at %g of 844 pixels, %v", name, bottom, err)
					}
				}
				if name == "reconcile-report-1280-light" && os.Getenv("CARDGATEWAY_SCREENSHOTS") == "1" {
					png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
					if err == nil {
						err = os.WriteFile(filepath.Join("..", "..", "docs", "images", name+".png"), png, 0o644)
					}
					if err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// look examines the page that is shown. The page's own policy forbids scripts; the debugger may.
func look(t *testing.T, ctx context.Context, name, axe string) {
	t.Helper()
	type finding struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML string }
	}
	findings, err := chromedp.Run(ctx, chromedp.Evaluate[[]finding](axe+`;
		axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help,
			Nodes: v.nodes.map(n => ({HTML: n.html}))})))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(name, err)
	}
	for _, f := range findings {
		for _, n := range f.Nodes {
			t.Errorf("%s: %s, %s: %s: %.200s", name, f.Impact, f.ID, f.Help, n.HTML)
		}
	}
	wider, err := chromedp.Run(ctx, chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth"))
	if err != nil || wider > 0 {
		t.Errorf("%s: %d pixels too wide (%v)", name, wider, err)
	}
}

type browserReport struct{ name, path string }

// browserReports makes the demonstration, a report without differences, one of an empty range, one with long words, one in which only
// rows near a limit differ, one with one difference, one of a month with every kind of mistake, one of the month after it, and one after
// that month has changed.
func browserReports(t *testing.T) []browserReport {
	t.Helper()
	m := newClosedMonth(t)
	all := []browserReport{{"reconcile-report", filepath.Join(m.dir, "report.html")}}
	demonstrate(t, nil, "--quiet", "--out", all[0].path)
	from := m.lastOf.AddDate(0, 0, -30)
	at := from.AddDate(0, 0, 15).Format(time.DateTime)
	for _, r := range []struct {
		name       string
		code       int
		lines      []string
		start, end time.Time
	}{
		{"fine", exit.OK, m.lines, from, m.lastOf},
		{"empty", exit.Failed, m.lines, from.AddDate(0, 0, -4), from.AddDate(0, 0, -2)},
		{"long", exit.Negative,
			append([]string{strings.Repeat("w", 128) + ",999999999999999.99,EUR," + at, "<&>" + strings.Repeat("Ü", 100) + ",1,EUR," + at}, m.lines...), from, m.lastOf},
		{"unchecked", exit.Negative, m.lines[3:], from, m.lastOf},
		{"one", exit.Negative, slices.Delete(slices.Clone(m.lines), 100, 101), from, m.lastOf},
	} {
		path := filepath.Join(m.dir, r.name+".html")
		tool(t, m.env, "reconcile", "report", "--quiet", "--out", path, "--list", m.list(t, r.lines...),
			"--from", r.start.Format(time.RFC3339), "--to", r.end.Format(time.RFC3339)).want(t, r.code)
		all = append(all, browserReport{r.name, path})
	}
	c := newClosing(t, closingRows)
	c.closeMonths()
	c.declined("of agrees", closingDate(12, 5, 2))
	changed := filepath.Join(c.dir, "changed.html")
	toolAt(t, closingDate(12, 5, 3), c.env, "reconcile", "report", "--quiet", "--as", "shop", "--day", "2026-11-20", "--out", changed).want(t, exit.Negative)
	holds(t, readText(t, changed), "Changed since it was compared <span")
	all = append(all, browserReport{"changed", changed})
	return append(all, browserReport{"month", filepath.Join(c.dir, "2026-10.html")}, browserReport{"month-after", filepath.Join(c.dir, "2026-11.html")})
}
