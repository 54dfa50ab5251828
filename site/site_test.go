// Package site tests the site that .ci/site makes. It has no other code.
package site

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/test/testprogram"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestSite builds the site, and looks at every page, at a desk or on a phone, light or dark; with CARDGATEWAY_LONG=1 at each with each. An
// accessibility checker finds nothing, nothing has to be scrolled sideways, nothing moves while a page is loaded, nothing comes from another
// host, and every link between pages leads to a page and to an id on it. Without CARDGATEWAY_LONG=1, the checker is not run on pages that are
// large, which takes minutes: most are made of the names of a package, as some small ones are.
func TestSite(t *testing.T) {
	testprogram.Node.Path(t)
	testprogram.Browser.Path(t)
	if out, err := exec.CommandContext(t.Context(), "../.ci/site").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const dist = ".vitepress/dist"
	server := httptest.NewServer(inParts(dist))
	t.Cleanup(server.Close)
	var pages []string
	isLarge := map[string]bool{}
	err := filepath.WalkDir(dist, func(path string, file fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		page := strings.TrimPrefix(filepath.ToSlash(path), dist)
		pages = append(pages, page)
		info, err := file.Info()
		isLarge[page] = err == nil && info.Size() > 200_000
		return err
	})
	if err != nil || len(pages) < 25 {
		t.Fatalf("got %d pages, want all of the sidebar (%v)", len(pages), err)
	}
	axe, err := os.ReadFile(filepath.Join("..", "examples", "shop", "testdata", "axe", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := browser{ctx: open(t), origin: server.URL, axe: string(axe)}
	t.Run("search", func(t *testing.T) { b.search(t) })

	long := os.Getenv("CARDGATEWAY_LONG") == "1"
	shown := map[string]look{}
	for i, screen := range screens {
		b.emulate(t, screen)
		for j, page := range pages {
			if j%len(screens) != i && !long {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", strings.ReplaceAll(page[1:], "/", "_"), screen), func(t *testing.T) {
				shown[page] = b.look(t, page, long || !isLarge[page])
			})
		}
	}
	if len(shown) < len(pages) { // with -run: links to the others cannot be checked
		return
	}
	for page, l := range shown {
		for _, target := range l.Links {
			path, id, _ := strings.Cut(strings.TrimPrefix(target, server.URL), "#")
			if path == "/" {
				path = "/index.html"
			}
			if to, ok := shown[path]; !ok {
				t.Errorf("%s: a link leads to %s, which is no page", page, path)
			} else if id != "" && !slices.Contains(to.IDs, id) {
				t.Errorf("%s: a link leads to %s, which has no %q", page, path, id)
			}
		}
	}
}

// inParts serves the files of dir. A page comes in parts, as over a slow network: one ends with each list of links beside the text, others
// within a table. Each is shown before the next comes.
func inParts(dir string) http.Handler {
	files := http.FileServer(http.Dir(dir))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(r.URL.Path)))
		if err != nil || filepath.Ext(r.URL.Path) != ".html" {
			files.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for list := range bytes.SplitAfterSeq(page, []byte("</nav>")) {
			unsent := 0
			for row := range bytes.SplitAfterSeq(list, []byte("</tr>")) {
				_, _ = w.Write(row) // a browser that has left gets no more
				if unsent += len(row); unsent > 1<<10 {
					showNow(w)
					unsent = 0
				}
			}
			showNow(w)
		}
	})
}

func showNow(w http.ResponseWriter) {
	w.(http.Flusher).Flush()
	time.Sleep(20 * time.Millisecond) // a frame takes 17
}

// browser is a tab of a browser.
type browser struct {
	ctx         context.Context
	origin, axe string
}

// open starts Chromium until the end of the test.
func open(t *testing.T) context.Context {
	t.Helper()
	profile, err := os.MkdirTemp("", "site-browser-")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(testprogram.Browser.Path(t)), chromedp.UserDataDir(profile), chromedp.DisableGPU,
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

// screen is a width of the window and a colour scheme.
type screen struct {
	width  int64
	scheme string
}

func (s screen) String() string { return fmt.Sprintf("%d/%s", s.width, s.scheme) }

var screens = []screen{{1280, "light"}, {1280, "dark"}, {390, "light"}, {390, "dark"}}

func (b browser) emulate(t *testing.T, s screen) {
	t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: s.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	err := chromedp.Do(b.ctx, chromedp.EmulateViewport(s.width, 900), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}); err != nil {
			return err // every page is loaded as a first visitor loads it
		}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
}

// look is what a page is like.
type look struct {
	Violations, Links, IDs, Elsewhere []string
	Cut                               []string // code, and tables of at most six columns, that have to be scrolled on a phone
	TooWide, Requests, Bytes, Hidden  int      // Hidden counts tables
	Shift                             float64  // cumulative layout shift
	Shifts                            []string
}

const script = `;(async () => {
	const shifts = []
	new PerformanceObserver(list => shifts.push(...list.getEntries())).observe({type: "layout-shift", buffered: true})
	const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
	const found = await axe.run(document, {resultTypes: ["violations"]})
	return {
		Violations: found.violations.flatMap(v => v.nodes.map(n => v.impact + ", " + v.id + ": " + v.help + ": " + n.html.slice(0, 200))),
		Links: [...document.links].map(a => a.href).filter(href => href.startsWith(location.origin)),
		IDs: [...document.querySelectorAll("[id]")].map(e => e.id),
		Elsewhere: loaded.map(e => e.name).filter(name => !name.startsWith(location.origin) && !name.startsWith("data:")),
		Cut: [...document.querySelectorAll(".vp-doc pre, .vp-doc table")].filter(e => innerWidth < 640 && !(e.rows?.[0].cells.length > 6) && e.scrollWidth > e.clientWidth)
			.map(e => e.innerText.slice(0, 80)),
		TooWide: document.documentElement.scrollWidth - innerWidth,
		Requests: loaded.length,
		Bytes: loaded.reduce((sum, e) => sum + e.encodedBodySize, 0),
		Hidden: [...document.querySelectorAll("table")].filter(t => getComputedStyle(t).visibility != "visible").length,
		Shift: shifts.reduce((sum, e) => sum + e.value, 0),
		Shifts: shifts.flatMap(e => e.sources.map(s => s.node?.outerHTML?.slice(0, 200))),
	}
})()`

func (b browser) look(t *testing.T, page string, examined bool) (l look) {
	t.Helper()
	checker := b.axe
	if !examined {
		checker = `const axe = {run: () => ({violations: []})}`
	}
	if err := chromedp.Do(b.ctx, chromedp.Navigate(b.origin+page)); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](`document.querySelector("#app").__vue_app__ != null`)); err != nil {
		t.Fatal(err)
	}
	l, err := chromedp.Run(b.ctx, chromedp.Evaluate[look](checker+script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range l.Violations {
		t.Error(v)
	}
	for _, name := range l.Elsewhere {
		t.Errorf("%s comes from another host", name)
	}
	for _, text := range l.Cut {
		t.Errorf("not whole on a phone: %q", text)
	}
	if l.TooWide > 0 {
		t.Errorf("%d pixels too wide", l.TooWide)
	}
	if l.Hidden > 0 {
		t.Errorf("%d tables are not shown", l.Hidden)
	}
	if l.Shift > 0.01 { // a tenth of what Web Vitals calls good
		t.Errorf("the layout shifts by %v while the page is loaded: %q", l.Shift, l.Shifts)
	}
	t.Logf("%d requests, %d bytes, layout shift %.4f", l.Requests, l.Bytes, l.Shift)
	return l
}

// search finds first what explains a word, or the exported name that was entered, and goes there. It is loaded before its button is pressed, and
// loads no page in addition.
func (b browser) search(t *testing.T) {
	b.emulate(t, screen{1280, "light"})
	if err := chromedp.Do(b.ctx, chromedp.Navigate(b.origin+"/start.html")); err != nil {
		t.Fatal(err)
	}
	const loaded = `performance.getEntriesByType("resource").filter(e => e.name.includes("/chunks/") && e.name.includes("ocalSearch"))`
	early, err := eventually(func() (bool, error) {
		return chromedp.Run(b.ctx, chromedp.Evaluate[bool](`document.querySelector(".VPNavBarSearch button").dispatchEvent(new FocusEvent("focus")); `+loaded+`.length == 2`))
	})
	if err != nil || !early {
		t.Errorf("the search is not loaded when its button is focused (%v)", err)
	}
	bytes, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](loaded+`.reduce((sum, e) => sum + e.decodedBodySize, 0)`))
	if err != nil || bytes > 400_000 {
		t.Errorf("the search has %d bytes (%v), want at most 400,000", bytes, err)
	}
	opened, err := eventually(func() (bool, error) { // the page does not react until its script runs
		return chromedp.Run(b.ctx, chromedp.Evaluate[bool](`(() => {
			document.querySelector(".VPNavBarSearch button").click();
			return document.activeElement.id === "localsearch-input";
		})()`))
	})
	if err != nil || !opened {
		t.Fatalf("the button does not open the search (%v)", err)
	}
	for _, tt := range []struct{ words, want string }{
		{"NewHandler", "# notify func NewHandler"},
		{"subscription", "# Refunds and subscriptions"},
		{"webhook", "# Notifications"},
		{"payout", "# cardgateway-go"},
		{"excel", "# Closing a month"},
		{"chargeback", "# Testing with the sandbox Control API Actions"},
		{"docker", "# Command-line tool"},
		{"kubernetes", "# Command-line tool"}, // a word that no page has, as those of the next three
		{"settlements", "# cardgateway-go"},
		{"dispute", "# Testing with the sandbox Control API Actions"},
		{"recurring", "# Refunds and subscriptions"},
		{"refund", "# Refunds and subscriptions"},
		{"3ds", "# First payment Which call to use"},
		{"Refunded more than paid", "# Closing a month"}, // a word of the report
	} {
		if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`document.activeElement.select() === undefined`)); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(b.ctx, chromedp.KeyEvent(tt.words)); err != nil {
			t.Fatal(err)
		}
		found := ""
		ok, err := eventually(func() (bool, error) { // the results of the whole text come last
			var err error
			found, err = chromedp.Run(b.ctx, chromedp.Evaluate[string](`(document.querySelector(".results")?.innerText ?? "").replace(/\s+/g, " ")`))
			return strings.HasPrefix(found, tt.want), err
		})
		if err != nil || !ok {
			t.Errorf("%s: found %q (%v), want first %q", tt.words, found, err, tt.want)
		}
		pages, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](`performance.getEntriesByType("resource").filter(e => e.name.endsWith(".js") && e.name.includes(".md.")).length`))
		if err != nil || pages > 1 {
			t.Errorf("%s: %d pages were loaded (%v), want the one that is shown", tt.words, pages, err)
		}
	}
	left, err := eventually(func() (bool, error) { // Enter does nothing while results are being replaced
		if err := chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Enter)); err != nil {
			return false, err
		}
		return chromedp.Run(b.ctx, chromedp.Evaluate[bool](`location.pathname != "/start.html"`))
	})
	if err != nil || !left {
		t.Errorf("Enter leads to no page (%v)", err)
	}
}

// eventually tries for half a minute and more: a browser beside other tests is slow.
func eventually(try func() (bool, error)) (ok bool, err error) {
	for range 300 {
		if ok, err = try(); ok || err != nil {
			return ok, err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false, nil
}
