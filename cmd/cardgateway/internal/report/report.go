// Package report writes what a comparison of books found as one HTML page that needs nothing from outside.
package report

import (
	_ "embed"
	"html/template"
	"io"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/match"
)

// Page is what a report says.
type Page struct {
	Period match.Span // its times are shown on the clock of From
	Grace  time.Duration
	Now    time.Time // when the sides were compared

	Gateway, AppID string     // empty for none
	Copy           match.Span // what the copy has
	LastSync       time.Time
	Payments       books.ListInfo
	Refunds        books.ListInfo // its ReadAt is zero if there was none
	Known          string         // file of the marks; empty if there was none

	Summary *match.Summary
	Rows    *Rows
	Days    *Days

	Demonstration bool
	Notes         []string // what the reader must know, such as where a list ends
	Nearest       []string // of an empty period: the nearest days with payments
	CSV, JSON     string   // names of the files beside the page
	Command       string   // how to make this page again

	Text func(string) string // makes outside text harmless; nil leaves it as it is
}

//go:embed page.html
var pageText string

//go:embed page.css
var style string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) },
}).Parse(pageText))

// Write writes the page.
func Write(w io.Writer, p *Page) error { return page.Execute(w, newView(p)) }
