package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

type (
	order     = cardgateway.Transaction
	orderPage = cardgateway.Page[cardgateway.Transaction]
)

// TestIDSearch goes through months and pages, and takes each row of the id once.
func TestIDSearch(t *testing.T) {
	from := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	var asked []string
	s := idSearch[order]{
		matches: func(o *order) bool { return o.TransactionID != "other" },
		key:     func(o *order) string { return o.UniqueID },
		page: func(from, to time.Time, n int) (*orderPage, error) {
			asked = append(asked, fmt.Sprintf("%s %s %d", from.Format("0102 15h"), to.Format("0102 15h"), n))
			return &orderPage{TotalPage: 2, TotalCount: 5, Data: []order{
				{UniqueID: "on every page"}, {UniqueID: fmt.Sprint(n)}, {}, // the interface does not promise an id
				{UniqueID: "other", TransactionID: "other"},
			}}, nil
		},
	}
	found, err := s.all(from, from.AddDate(0, 0, 40))
	if got, want := strings.Join(asked, ", "), "0130 11h 0226 11h 1, 0130 11h 0226 11h 2, 0226 10h 0312 15h 1, 0226 10h 0312 15h 2"; got != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if len(found) != 7 {
		t.Errorf("got %d rows, want 3 and 4 without an id", len(found))
	}
}

// TestIDSearchOfFullPages: totals that only say what is on the page do not end the search.
func TestIDSearchOfFullPages(t *testing.T) {
	now := time.Now()
	s := idSearch[order]{
		matches: func(*order) bool { return true }, key: func(o *order) string { return o.UniqueID },
		page: func(_, _ time.Time, n int) (*orderPage, error) {
			page := &orderPage{TotalPage: 1}
			for i := range []int{10, 10, 3, 3}[n-1] {
				page.Data = append(page.Data, order{UniqueID: fmt.Sprint(n, i)})
			}
			page.TotalCount = len(page.Data)
			return page, nil
		},
	}
	if found, err := s.all(now.Add(-time.Hour), now); len(found) != 23 || err != nil {
		t.Errorf("got %d rows, %v, want 23", len(found), err)
	}
}

// TestIDSearchWithoutAnswer: what is missing on a page is not taken for absent.
func TestIDSearchWithoutAnswer(t *testing.T) {
	now := time.Now()
	for want, page := range map[string]orderPage{
		"announced 1 rows more than it returned": {TotalPage: 1, TotalCount: 1},
		"announced 2 rows more than it returned": {TotalPage: 1, TotalCount: 3, Data: make([]order, 1)},
		"more than 1000 pages":                   {TotalPage: 1 << 30, Data: make([]order, 1)},
	} {
		s := idSearch[order]{
			matches: func(*order) bool { return true }, key: func(*order) string { return "" },
			page: func(time.Time, time.Time, int) (*orderPage, error) { return &page, nil },
		}
		if found, err := s.all(now.Add(-time.Hour), now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %d rows, %v, want %s", len(found), err, want)
		}
	}
}
