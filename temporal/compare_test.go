package temporal

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/report"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// lists are a merchant's lists of payments and refunds.
type lists struct{ payments, refunds [][]string }

// differing returns the lists of a merchant who has booked what the gateway has, except for a mistake in the payments before and
// after the end of each window, and in every hundredth refund, and what a comparison must find.
func differing(t *testing.T, client *cardgateway.Client, from, to time.Time, window time.Duration) (l lists, want []string) {
	t.Helper()
	l.payments = [][]string{{"transaction_id", "amount", "currency", "state", "at"}}
	l.refunds = [][]string{{"refund_id", "amount", "currency", "at"}}
	wrong := func(class string, kind books.Kind, id string) { want = append(want, class+" "+string(kind)+" "+id) }
	var orders []*cardgateway.Transaction
	for o, err := range client.OrderWalk(cardgateway.OrderQuery{Start: from, End: to}, cardgateway.WalkOptions{}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		orders = append(orders, o)
	}
	at := func(o *cardgateway.Transaction) time.Time { return o.TransactionAt.In(client.Location()) }
	slices.SortFunc(orders, func(a, b *cardgateway.Transaction) int { return at(a).Compare(at(b)) })
	book := func(o *cardgateway.Transaction, id, state string, amount decimal.Decimal) {
		l.payments = append(l.payments, []string{id, amount.String(), o.TransactionCurrency, state, at(o).Format(time.RFC3339)})
	}
	states := map[cardgateway.Code]string{cardgateway.CodeSuccess: "approved", cardgateway.CodeFailed: "declined", cardgateway.CodeProcessing: "processing"}
	next, mistakes := from.Add(window), 0
	for i, o := range orders {
		isLast := i+1 < len(orders) && at(o).Before(next) && !at(orders[i+1]).Before(next) // the next one is the first of the next window
		isFirst := !at(o).Before(next)
		if isFirst {
			next = next.Add(window)
		}
		if o.Code != cardgateway.CodeSuccess || !isLast && !isFirst {
			book(o, o.TransactionID, states[o.Code], o.TransactionAmount)
			continue
		}
		switch mistakes++; mistakes % 4 {
		case 0:
			wrong("missing_here", books.Payment, o.TransactionID)
		case 1:
			book(o, o.TransactionID, "approved", o.TransactionAmount.Add(decimal.NewFromInt(1)))
			wrong("amount", books.Payment, o.TransactionID)
		case 2:
			book(o, o.TransactionID, "declined", o.TransactionAmount)
			wrong("state", books.Payment, o.TransactionID)
		case 3:
			book(o, o.TransactionID, "approved", o.TransactionAmount)
			book(o, fmt.Sprintf("invented-%d", mistakes), "approved", o.TransactionAmount)
			wrong("missing_there", books.Payment, fmt.Sprintf("invented-%d", mistakes))
		}
	}
	n := 0
	for r, err := range client.RefundWalk(cardgateway.RefundQuery{Start: from, End: to}, cardgateway.WalkOptions{}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%100 == 0 {
			wrong("refund_missing_here", books.Refund, r.MerchantRefundID)
			continue
		}
		at := r.RefundRequestAt.In(client.Location()).Format(time.RFC3339)
		l.refunds = append(l.refunds, []string{r.MerchantRefundID, r.RefundAmount.String(), r.RefundCurrency, at})
	}
	slices.Sort(want)
	return l, want
}

// TestCompareCopy: a comparison with a copy that the workflow has made of several windows finds what is wrong in the merchant's
// lists, and nothing else, and its report is that of a copy which was made at once.
func TestCompareCopy(t *testing.T) {
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	const window = 10 * 24 * time.Hour
	to := time.Now().Add(-24 * time.Hour).Truncate(time.Second)
	from := to.AddDate(0, 0, -95)
	gateway.Seed(5000, from, to)
	client, err := cardgateway.New(configFor(gateway.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	lists, want := differing(t, client, from, to, window)

	parts, _ := database(t)
	r, err := newReconciliation(Reconciliation{Config: configFor(gateway.URL), Database: parts})
	if err != nil {
		t.Fatal(err)
	}
	env := newEnv()
	env.SetStartTime(time.Now())
	r.register(env)
	windows := 0
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == windowName && info.Attempt == 1 {
			windows++
		}
	})
	env.ExecuteWorkflow(Reconcile, ReconcileOptions{From: from, Window: window, RequestsPerSecond: 1000})
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if windows != 9 {
		t.Errorf("got %d windows, want 9", windows)
	}
	whole, _ := database(t)
	b := openBooks(t, whole)
	if _, err := b.Sync(t.Context(), books.SyncOptions{Client: client, From: from}); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	wholeText, wholeFound := compare(t, b, lists, now)
	partsText, partsFound := compare(t, openBooks(t, parts), lists, now)
	for _, found := range [][]string{wholeFound, partsFound} {
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(strings.Split(wholeText, "\n"), strings.Split(partsText, "\n")); diff != "" {
		t.Errorf("the reports differ (-at once +in parts):\n%s", diff)
	}
	t.Logf("%d lines, %d windows, %d differences", len(lists.payments)+len(lists.refunds)-2, windows, len(want))
}

func openBooks(t *testing.T, database string) *books.Books {
	t.Helper()
	b, err := books.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// compare imports the lists, compares, and writes the report as cardgateway reconcile report does. It returns the CSV of the
// report, and the class and id of each difference that is counted as one.
func compare(t *testing.T, b *books.Books, l lists, now time.Time) (text string, found []string) {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	source := func(kind books.Kind, name string, rows [][]string) books.ListSource {
		var text strings.Builder
		if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return books.ListSource{Kind: kind, Path: path}
	}
	_, err := b.Import(ctx, source(books.Payment, "payments.csv", l.payments), source(books.Refund, "refunds.csv", l.refunds))
	if err != nil {
		t.Fatal(err)
	}
	info, err := b.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	copied := match.Span{From: info.Since, To: now.Add(-12 * time.Hour).In(info.Zone).Truncate(time.Second)} // the same for every copy
	if info.CompleteUpTo.Before(copied.To) {
		t.Fatalf("the copy is complete up to %v, want %v at least", info.CompleteUpTo, copied.To)
	}
	o := match.Options{Copy: copied, Period: copied, Now: now, Payments: match.List{Read: true}, Refunds: match.List{Read: true}}
	base := filepath.Join(dir, "report")
	written, err := report.Create(base, &o, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer written.Remove()
	o.EachRow = written.AddRow
	o.Found = func(d *match.Difference) error {
		if d.Class != match.ClassTiming {
			found = append(found, fmt.Sprintf("%s %s %s", d.Class, d.Kind, d.ID))
		}
		return written.Add(d)
	}
	summary, err := match.Run(ctx, b, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range summary.Bridges {
		if left := summary.Bridges[i].LeftOver(); !left.IsZero() {
			t.Errorf("%v %s are left over", left, summary.Bridges[i].Currency)
		}
	}
	if summary.Differences() != len(found) || summary.TiedOut < 4000 {
		t.Errorf("got %d differences and %d that tie out, want %d and at least 4000", summary.Differences(), summary.TiedOut, len(found))
	}
	if err := written.Finish(&report.Page{Info: info, Summary: summary}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(base + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return string(data), found
}
