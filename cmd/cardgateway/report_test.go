package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/shopspring/decimal"
)

func TestReport(t *testing.T) {
	m := newClosedMonth(t)
	out := filepath.Join(m.dir, "month.html")
	from := m.lastOf.AddDate(0, 0, -30)
	period := []string{"--from", from.Format(time.RFC3339), "--to", m.lastOf.Format(time.RFC3339)}
	report := func(code int, args ...string) (page string) {
		t.Helper()
		r := tool(t, m.env, append([]string{"reconcile", "report", "--out", out}, args...)...)
		r.want(t, code)
		if r.out != out+"\n" {
			t.Errorf("got %q, want the path of the page", r.out)
		}
		return readText(t, out)
	}
	page := report(exit.OK, append(period, "--list", m.list(t, m.lines...))...)
	holds(t, page, "273 of 273 rows tie out", "Signature", "SHA-256", "paid.csv, 273 lines", "Value per day", "acceptance", "Left over")

	holds(t, page, "cardgateway reconcile report --from", " --rows=200 --out="+out)
	// A page that was changed, perhaps signed, is not replaced.
	m.file(t, "month.html", strings.Replace(page, "Signature", "Signature: Anna", 1))
	tool(t, m.env, append([]string{"reconcile", "report", "--out", out}, period...)...).want(t, exit.Failed,
		"month.html exists, and no report wrote it, or it was changed since")
	report(exit.OK, append(period, "--force")...)
	report(exit.OK, period...) // one that was not changed is

	// An id that would be a formula, and one that would be markup.
	lines := append([]string{`=cmd|'/c calc'!A0,1.00,EUR,` + from.AddDate(0, 0, 15).Format(time.DateTime),
		`<script>alert(1)</script>,2.00,EUR,` + from.AddDate(0, 0, 15).Format(time.DateTime)}, m.lines...)
	tool(t, m.env, append([]string{"reconcile", "report", "--out", out, "--list", m.list(t, lines...)}, period...)...).want(t, exit.Negative, "says something else")
	page = report(exit.Negative, append(period, "--rows", "1", "--force")...)
	holds(t, page, "2 differences", "Not shown: 1 difference with a total of 1.00 EUR", "month.csv", "month.json", "&lt;script&gt;")
	lacks(t, page, "<script")
	table := readText(t, filepath.Join(m.dir, "month.csv"))
	holds(t, table, "\nmissing_there,payment,'=cmd|'/c calc'!A0,,1.00,EUR,")
	text := readText(t, filepath.Join(m.dir, "month.json"))
	var parsed reportJSON
	err := json.Unmarshal([]byte(text), &parsed)
	if err != nil || len(parsed.Differences) != 2 || parsed.Summary.TiedOut != 273 || parsed.Summary.Compared != 275 || parsed.Summary.Lists[0].Rows != 275 {
		t.Errorf("got %s, %v", text, err)
	}
	// The CSV marks what may stay, when it is given reasons.
	marked := strings.NewReplacer("!A0,,", "!A0,typed by hand,", "</script>,,", "</script>,a test,").Replace(table)
	page = report(exit.OK, append(period, "--force", "--known", m.file(t, "known.csv", marked))...)
	holds(t, page, "273 of 275 rows tie out", "2 known differences", "Known: typed by hand")

	err = filepath.WalkDir(m.dir, func(path string, e fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s is left", path)
		}
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), "month.") && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// reportJSON is what the tests read of the JSON file beside a report.
type reportJSON struct {
	Differences []map[string]any `json:"differences"`
	Summary     struct {
		Compared int `json:"compared"`
		TiedOut  int `json:"tiedOut"`
		Classes  []struct {
			Class       match.Class `json:"class"`
			Differences int         `json:"differences"`
		} `json:"classes"`
		Bridges []struct {
			Kind     books.Kind      `json:"kind"`
			Currency string          `json:"currency"`
			LeftOver decimal.Decimal `json:"leftOver"`
		} `json:"bridges"`
		Lists []struct {
			Rows int `json:"rows"`
		} `json:"lists"`
		Earlier struct {
			Settled     int `json:"settled"`
			Open        int `json:"open"`
			Differences int `json:"differences"`
		} `json:"openFromEarlierMonths"`
	} `json:"summary"`
}

// TestReportIsInterrupted leaves the report that was there, and no half of a new one.
func TestReportIsInterrupted(t *testing.T) {
	m := newClosedMonth(t)
	out := filepath.Join(m.dir, "month.html")
	tool(t, m.env, "reconcile", "report", "--out", out, "--list", m.list(t, m.lines...)).want(t, exit.OK)
	old := readText(t, out)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	toolUntil(t, ctx, m.env, "reconcile", "report", "--out", out).want(t, exit.Interrupted, "interrupted")
	if left, _ := filepath.Glob(filepath.Join(m.dir, "*.tmp")); readText(t, out) != old || len(left) > 0 {
		t.Errorf("the report has changed, or there is more: %q", left)
	}
}
