package report

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

//go:embed page.css
var style string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) },
}).Parse(pageText))

// Write renders the page as HTML.
func Write(w io.Writer, p *Page) error { return page.Execute(w, newView(p)) }
