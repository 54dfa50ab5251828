package console

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/pages"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/params"
)

// addDashboard registers the pages of the dashboard. Their buttons are forms with the actions of the control API.
func (c *Console) addDashboard(mux *http.ServeMux) {
	show := func(path string, f func(r *http.Request) (pages.Dashboard, error)) {
		mux.HandleFunc("GET "+Path+path, func(w http.ResponseWriter, r *http.Request) {
			page, err := f(r)
			c.writeDashboard(w, r, page, err)
		})
	}
	show("{$}", c.overviewPage)
	show("payments", c.listPage("payments", "transactionId", "orderId", "code"))
	show("payments/{id}", c.paymentPage)
	show("refunds", c.listPage("refunds", "refundTransactionId", "transactionId", "code"))
	show("notifications", c.listPage("notifications", "transactionId", "transactionType", "code"))
	show("notifications/{id}", c.notificationPage)
	show("requests", c.listPage("requests", "transactionId", "operation", "method", "code"))
	show("requests/{id}", c.requestPage)
	show("faults", c.faultsPage)
	press := func(path string, read reading) {
		mux.HandleFunc("POST "+Path+path, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if err := r.ParseForm(); err != nil {
				c.writeDashboard(w, r, pages.Dashboard{}, Invalid("the form could not be read"))
				return
			}
			maps.DeleteFunc(r.PostForm, func(_ string, values []string) bool { return values[0] == "" }) // counts as missing
			p := params.Of(r.PostForm)
			back := p.Text("back", 0)
			if _, err := read.run(r, p); err != nil {
				c.writeDashboard(w, r, pages.Dashboard{}, err)
				return
			}
			http.Redirect(w, r, backTo(back), http.StatusSeeOther)
		})
	}
	for _, a := range c.actions() {
		press(a.path, a.read)
	}
	press("faults", func(_ *http.Request, p *params.Reader) func() (any, error) {
		settings := faultOfForm(p)
		return func() (any, error) { return c.gateway.Inject(settings, slowInForm) }
	})
	press("faults/remove", func(_ *http.Request, p *params.Reader) func() (any, error) {
		number := p.Text("number", 0)
		return func() (any, error) { return c.gateway.RemoveFaults(number) }
	})
	mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		c.writeDashboard(w, r, pages.Dashboard{}, &Error{Status: http.StatusNotFound, Text: "This page does not exist."})
	})
}

// backTo returns where the browser is sent after an action: always a page of the dashboard.
func backTo(back string) string {
	u, err := url.Parse(back)
	if err != nil || !strings.HasPrefix(path.Clean(u.Path)+"/", Path) {
		return Path + "?done=1"
	}
	return (&url.URL{Path: u.Path, RawQuery: "done=1"}).String()
}

func (c *Console) writeDashboard(w http.ResponseWriter, r *http.Request, page pages.Dashboard, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
		page = pages.Dashboard{Title: "Error", Sections: []pages.Section{{Text: err.Error()}}}
		if e, ok := errors.AsType[*Error](err); ok {
			status, page.Sections[0].Text = e.Status, e.Text
		}
	}
	page.Label, page.Tabs = c.settings.Label, tabs(r.URL.Path)
	if r.URL.Query().Get("done") != "" {
		page.Notice = "Done."
	}
	w.Header().Set("Content-Security-Policy", policy+"; form-action 'self'")
	w.Header().Set("Referrer-Policy", "same-origin") // with no-referrer a browser would not send the origin of a form
	render(w, status, "Dashboard", page)
}

func tabs(path string) []pages.Tab {
	list := []pages.Tab{{Text: "Overview", Link: Path, Here: path == Path}}
	for _, name := range []string{"Payments", "Refunds", "Notifications", "Requests", "Faults"} {
		link := Path + strings.ToLower(name)
		list = append(list, pages.Tab{Text: name, Link: link, Here: path == link || strings.HasPrefix(path, link+"/")})
	}
	return list
}
