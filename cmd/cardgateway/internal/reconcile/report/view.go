package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

//go:embed page.html
var pageText string

//go:embed page.css
var style string

// page shows a view.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) },
	"clean": terminal.Clean, "number": terminal.Thousands, "amount": amount.ForPeople, "signed": signed, "inRefunds": inRefunds, "periodOf": periodOf,
}).Parse(pageText))

// view is the text of the page.
type view struct {
	*Page
	*match.Options  // of the comparison; times are shown in the zone of Period.From
	shown           *shownRows
	days            *daily
	Verdict, Result string // the CSS class, and the headline
	Sentences       []string
	Facts           []fact
	CSV, JSON       attachment
	Content         string // SHA-256 of what the report says
}

// attachment is a file next to the page.
type attachment struct{ Name, SHA256 string }

type fact struct{ Term, Text string }

func (v *view) verdict() {
	s := v.Summary
	n, unchecked, known, leftOut := s.Differences(), s.Unchecked(), s.Known(), LeftOut(s)
	waiting, tests, later := s.Rows(match.ClassTiming), s.Rows(match.ClassTest), s.Rows(match.ClassLaterCharge)
	say := func(is bool, format string, args ...any) {
		if is {
			v.Sentences = append(v.Sentences, fmt.Sprintf(format, args...))
		}
	}
	switch {
	case s.Compared == 0 && n == 0:
		v.Verdict, v.Result = "empty", "Nothing was compared in this period"
		say(true, "Neither the gateway nor your list has a payment from %s to %s.", v.Clock(v.Period.From), v.Clock(v.Period.To))
	case n == 0 && unchecked == 0 && len(leftOut) == 0:
		v.Verdict, v.Result = "fine", fmt.Sprintf("%s of %s rows tie out", terminal.Thousands(s.TiedOut), terminal.Thousands(s.Compared))
		say(true, "No difference was found.")
	default:
		v.Verdict, v.Result = "differs", plural(n, "difference")
		switch {
		case n == 0 && unchecked == 0:
			v.Result = "This does not show that both sides agree"
		case n == 0:
			v.Result = wereNotChecked(unchecked)
		case unchecked > 0:
			v.Result += ", and " + wereNotChecked(unchecked)
		}
		say(true, "%s of %s rows tie out.", terminal.Thousands(s.TiedOut), terminal.Thousands(s.Compared))
	}
	for _, why := range leftOut {
		say(true, "%s%s.", strings.ToUpper(why[:1]), why[1:])
	}
	say(unchecked > 0, "Not checked: %s.", NotChecked(unchecked, v.Grace))
	say(s.Compared > 0 && v.Info.RefundList.ReadAt.IsZero() && s.RefundsLeftOut == 0, "Only payments were compared: there is no list of refunds.")
	say(waiting > 0, "%s to carry forward: timing differences, not errors.", plural(waiting, "row"))
	say(tests > 0, "%s: no money moved, although the gateway's total has them. If this is a test system, set --test-payments.", plural(tests, "test payment"))
	say(v.TestPayments, "This is a test system: no payment is real, and test payments are compared as real ones are.")
	say(later > 0, "%s charged again like a subscription, and not in your list: each is one, or was charged twice.", plural(later, "transaction id"))
	say(s.Kept > 0, "Open at the end of this month: %s, kept and looked at again with the next month.", plural(s.Kept, "row"))
	say(len(s.Changed) > 0, "Changed since it was compared: %s of earlier months.", plural(len(s.Changed), "row"))
	say(len(s.Earlier) > 0, "Open from earlier months: %s.", EarlierText(s))
	say(known > 0, "%s, counted separately.", plural(known, "known difference"))
}

// Bridges returns the bridges by currency.
func (v *view) Bridges() []match.Bridge {
	return slices.SortedStableFunc(slices.Values(v.Summary.Bridges), func(a, b match.Bridge) int { return cmp.Compare(a.Currency, b.Currency) })
}

func (v *view) facts() {
	add := func(term, format string, args ...any) {
		v.Facts = append(v.Facts, fact{term, terminal.Clean(fmt.Sprintf(format, args...))})
	}
	zone, offset := v.Period.From.Zone()
	if !strings.HasPrefix(zone, "UTC") && zone != v.Period.From.Format("-07") {
		zone += " (UTC" + v.Period.From.Format("-07:00") + ")"
	} else if offset != 0 {
		zone = "UTC" + v.Period.From.Format("-07:00")
	}
	add("Period", "%s to %s (exclusive); all times are in %s", v.Clock(v.Period.From), v.Clock(v.Period.To), zone)
	add("Compared at", "%s", v.Clock(v.Now))
	add("Gateway", "%s, app %s", v.Info.Gateway, v.Info.AppID)
	read := ""
	if !v.Info.LastSync.IsZero() {
		read = ", last updated " + v.Clock(v.Info.LastSync)
	}
	add("Copy of the gateway", "complete from %s to %s%s", v.Clock(v.Info.Since), v.Clock(v.Info.CompleteUpTo), read)
	for _, list := range []struct {
		term string
		books.ListInfo
	}{{"List of payments", v.Info.PaymentList}, {"List of refunds", v.Info.RefundList}} {
		if list.ReadAt.IsZero() {
			add(list.term, "none")
			continue
		}
		add(list.term, "%s, %s, %s not readable, imported %s, SHA-256 %s", list.Name, plural(list.ListInfo.Rows, "line"), terminal.Thousands(list.Unreadable),
			v.Clock(list.ReadAt), list.SHA256)
		add(list.term+", columns", "%s", ReadFrom(list.As))
		if text := ReadAs(list.As); text != "" {
			add(list.term+", read as", "%s", text)
		}
	}
	if v.Summary.Elsewhere > 0 {
		add("Lines of other periods", "%s, not compared", terminal.Thousands(v.Summary.Elsewhere))
	}
	if v.Summary.Newer > 0 {
		add("Lines that are newer than the copy", "%s, not compared", terminal.Thousands(v.Summary.Newer))
	}
	add("Grace period", "%s: so near a limit, a row without its counterpart is not checked", terminal.Duration(v.Grace))
	if v.Page.Known != "" {
		text := fmt.Sprintf("%s, %s marked", v.Page.Known, plural(v.Summary.Known(), "difference"))
		if n := len(v.Summary.Unused); n > 0 {
			text += fmt.Sprintf("; entries that match no difference: %s, the first in line %d", terminal.Thousands(n), v.Summary.Unused[0])
		}
		add("Known differences", "%s", text)
	}
	add("SHA-256 of the content", "%s: of the differences and totals of this page, at the foot of each printed page", v.Content)
	add("To create this report again", "%s", v.Command)
}

// Foot returns the style of the foot of each printed page: what the report is about, its SHA-256, and the number of the page.
func (v *view) Foot() template.CSS {
	return template.CSS(fmt.Sprintf(`@page { @bottom-center { font: 7pt sans-serif; content:
  "%s. SHA-256 of the content: %s. Page " counter(page) " of " counter(pages); } }`, v.Range(), v.Content))
}
