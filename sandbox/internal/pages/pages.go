// Package pages renders the HTML pages of the sandbox: the hosted card page and the 3D page for cardholders, and the
// dashboard for developers. Its input is plain values, and no page needs JavaScript.
package pages

import (
	"bytes"
	"embed"
	"html/template"
)

//go:embed templates
var files embed.FS

// templates are parsed once and only read afterwards.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"css": func(name string) (template.CSS, error) {
		text, err := files.ReadFile("templates/" + name)
		return template.CSS(text), err
	},
}).ParseFS(files, "templates/*.html"))

// Render returns a page as HTML. The data has one of the types of this package, and name is the name of that type.
func Render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
