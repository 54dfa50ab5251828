// Package pages renders what people see of the sandbox: the hosted card page and the 3D page of a cardholder, and the
// dashboard of a developer. It knows plain values only, and no page needs a script.
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

// Render returns a page as HTML. The data is one of the types of this package, and its name that of the type.
func Render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
