package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

//go:embed templates
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// pages are the templates by name, each inside the layout. They are parsed once and only read afterwards.
var pages = parsePages()

func parsePages() map[string]*template.Template {
	functions := template.FuncMap{
		"money":    money,
		"total":    lineTotal,
		"date":     date,
		"clock":    func(t time.Time) string { return t.UTC().Format("15:04:05.000") },
		"static":   staticURL,
		"picture":  pictureOf,
		"products": productsOf,
		"status":   statusOf,
		"refund":   statusOfRefund,
		"input":    newInput,
		"digits":   newDigits,
	}
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(templateFiles, "templates/layout.html"))
	files, _ := fs.Glob(templateFiles, "templates/*.html") // the pattern is valid
	all := make(map[string]*template.Template)
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name != "layout" {
			all[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, file))
		}
	}
	return all
}

// pictureOf returns the URL of the picture of an order's first product.
func pictureOf(o payments.Order) (string, error) {
	sku := o.Products[0].SKU
	if sku == weekly.SKU {
		sku = "tapers"
	}
	return staticURL(sku + ".svg")
}

// productsOf names what was ordered, in a line of a list.
func productsOf(o payments.Order) string {
	if n := len(o.Products); n > 1 {
		return fmt.Sprintf("%s and %d more", o.Products[0].ProductName, n-1)
	}
	return o.Products[0].ProductName
}

// input is a field of a form.
type input struct {
	Name, Label, Autocomplete, Value string
	Wrong                            string // error message
	Digits                           int    // at most, or 0 for a text
}

func newInput(f interface{ Wrong(string) string }, name, label, autocomplete, value string) input {
	return input{Name: name, Label: label, Autocomplete: autocomplete, Value: value, Wrong: f.Wrong(name)}
}

// newDigits returns a field whose content is never sent back.
func newDigits(f interface{ Wrong(string) string }, name, label, autocomplete string, most int) input {
	return input{Name: name, Label: label, Autocomplete: autocomplete, Wrong: f.Wrong(name), Digits: most}
}

// view is the data of the layout, which contains the page.
type view struct {
	InCart     int
	Sandbox    bool
	Staff      bool
	TypedCards bool
	Here       string // path of the page
	Again      int    // after how many seconds a script loads the page again; 0 means not at all
	Reload     int    // the same without a script, which is slower, and 0 if the customer has stopped it
	Page       any
}

// render writes a page. It starts no session: a form from another site, whose request has no cookie, would get a new one.
func (s *Shop) render(w http.ResponseWriter, r *http.Request, status int, name string, data any) error {
	var cart Lines
	if s.session(r) != "" {
		var err error
		if cart, err = s.cart(r.Context(), s.customer(w, r)); err != nil {
			return err
		}
	}
	return s.write(w, r, status, name, data, cart)
}

// write renders a page completely before anything is sent, so that an error can still be shown.
func (s *Shop) write(w http.ResponseWriter, r *http.Request, status int, name string, data any, cart Lines) error {
	v := view{Sandbox: s.demo != nil, Staff: s.staff, TypedCards: s.typedCards, Here: r.URL.Path, Page: data}
	if changing, ok := data.(interface{ Again() int }); ok && changing.Again() > 0 {
		v.Again = changing.Again()
		if !r.URL.Query().Has("stay") {
			v.Reload = v.Again + 3
		}
	}
	for _, l := range cart {
		v.InCart += l.Quantity
	}
	var b bytes.Buffer
	if err := pages[name].Execute(&b, v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // an error means that the customer has gone
	return nil
}

var (
	errNotFound  = errors.New("there is no such page")
	errOtherSite = errors.New("the form comes from another site")
	errBadForm   = errors.New("the form cannot be read")
)

// page converts a page function that can return an error into a handler. The error is logged; the customer sees only
// whether trying again may help.
func (s *Shop) page(show func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := show(w, r)
		if err == nil {
			return
		}
		status := http.StatusInternalServerError
		_, tooLong := errors.AsType[*http.MaxBytesError](err)
		switch {
		case errors.Is(err, errNotFound), errors.Is(err, payments.ErrNotFound):
			status = http.StatusNotFound
		case tooLong:
			status = http.StatusRequestEntityTooLarge
		case errors.Is(err, errBadForm):
			status = http.StatusBadRequest
		case errors.Is(err, errOtherSite):
			status = http.StatusForbidden
		default:
			s.log.Error("page", "page", r.Pattern, "error", err)
		}
		if err := s.write(w, r, status, "error", status, nil); err != nil { // without the cart: the database may be what has failed
			http.Error(w, http.StatusText(status), status)
		}
	})
}

// form reads the fields of a form. The error of ParseForm may quote them, and is not passed on.
func form(r *http.Request) (func(name string) string, error) {
	if err := r.ParseForm(); err != nil {
		if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, tooLong
		}
		return nil, errBadForm
	}
	for _, values := range r.PostForm {
		for _, v := range values {
			if !utf8.ValidString(v) || strings.Contains(v, "\x00") { // neither the gateway nor every database takes it
				return nil, errBadForm
			}
		}
	}
	return func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }, nil
}

// redirect redirects to a page of the shop after a form.
func redirect(w http.ResponseWriter, r *http.Request, to string) error {
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// staticURL returns the URL of a file with a hash of its content, so that browsers may cache it forever.
func staticURL(name string) (string, error) {
	content, err := staticFiles.ReadFile("static/" + name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	return "/static/" + name + "?v=" + hex.EncodeToString(sum[:6]), nil
}

var static = http.FileServerFS(staticFiles)

func serveStatic(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has("v") {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	static.ServeHTTP(w, r)
}
