package report

import (
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
)

// summaryJSON is the summary in the JSON file. Amounts are strings.
type summaryJSON struct {
	From      time.Time       `json:"from"`
	To        time.Time       `json:"to"`
	Compared  int             `json:"compared"`
	TiedOut   int             `json:"tiedOut"`
	Elsewhere int             `json:"linesOfOtherPeriods"`
	Newer     int             `json:"linesNewerThanCopy"`
	OtherApps books.OtherApps `json:"otherApps"` // rows in the period that are not compared
	Classes   []classJSON     `json:"classes"`
	Bridges   []bridgeJSON    `json:"bridges"`
	Changed   []changedJSON   `json:"changedSinceCompared"` // the gateway's totals of months that were compared
	Earlier   earlierJSON     `json:"openFromEarlierMonths"`
	Kept      int             `json:"openAtTheEnd"` // rows that are kept for the next month
	Notes     []string        `json:"notes"`
	Lists     []listJSON      `json:"lists"`
}

type changedJSON struct {
	Month    string       `json:"month"`
	Kind     books.Kind   `json:"kind"`
	Currency string       `json:"currency"`
	Was      amount.Exact `json:"was"`
	Now      amount.Exact `json:"now"`
}

type earlierJSON struct {
	Settled     int `json:"settled"`
	Open        int `json:"open"`
	Differences int `json:"differences"`
}

type classJSON struct {
	Class       match.Class  `json:"class"`
	Kind        books.Kind   `json:"kind"`
	Currency    string       `json:"currency"`
	Differences int          `json:"differences"`
	Value       amount.Exact `json:"value"`
	Known       int          `json:"known"`
	Oldest      *time.Time   `json:"oldest"`
}

type bridgeJSON struct {
	Kind     books.Kind   `json:"kind"`
	Currency string       `json:"currency"`
	Books    amount.Exact `json:"books"`
	Steps    []stepJSON   `json:"steps"`
	Gateway  amount.Exact `json:"gateway"`
	LeftOver amount.Exact `json:"leftOver"`
}

type stepJSON struct {
	Class match.Class  `json:"class"`
	Known bool         `json:"known"`
	Rows  int          `json:"rows"` // payments or refunds
	Sum   amount.Exact `json:"sum"`
}

type listJSON struct {
	List string `json:"list"`
	books.ListInfo
}

func summaryOf(p *Page, period match.Span) summaryJSON {
	s := p.Summary
	j := summaryJSON{
		From: period.From, To: period.To, Compared: s.Compared, TiedOut: s.TiedOut, Elsewhere: s.Elsewhere, Newer: s.Newer,
		OtherApps: p.OtherApps, Kept: s.Kept, Classes: []classJSON{}, Bridges: []bridgeJSON{}, Notes: append([]string{}, p.Notes...),
		Changed: []changedJSON{}, Lists: []listJSON{{"payments", p.Info.PaymentList}},
	}
	j.Earlier.Settled, j.Earlier.Open, j.Earlier.Differences = s.EarlierNow()
	for _, t := range s.ChangedTotals {
		j.Changed = append(j.Changed, changedJSON{t.Month.In(period.From.Location()).Format("2006-01"), t.Kind, t.Currency, amount.InJSON(t.Was, t.Currency),
			amount.InJSON(t.Now, t.Currency)})
	}
	if refunds := p.Info.RefundList; !refunds.ReadAt.IsZero() {
		j.Lists = append(j.Lists, listJSON{"refunds", refunds})
	}
	for _, c := range s.Classes {
		row := classJSON{Class: c.Class, Kind: c.Kind, Currency: c.Currency, Differences: c.Rows, Value: amount.InJSON(c.Value, c.Currency), Known: c.Known}
		if !c.Oldest.IsZero() {
			row.Oldest = &c.Oldest
		}
		j.Classes = append(j.Classes, row)
	}
	for i := range s.Bridges {
		b := &s.Bridges[i]
		row := bridgeJSON{Kind: b.Kind, Currency: b.Currency, Books: amount.InJSON(b.Books, b.Currency), Steps: []stepJSON{},
			Gateway: amount.InJSON(b.Gateway, b.Currency), LeftOver: amount.InJSON(b.LeftOver(), b.Currency)}
		for _, step := range b.Steps {
			row.Steps = append(row.Steps, stepJSON{step.Class, step.Known, step.Rows, amount.InJSON(step.Sum, b.Currency)})
		}
		j.Bridges = append(j.Bridges, row)
	}
	return j
}
