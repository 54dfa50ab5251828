package console

import (
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
			if _, err := read.run(r, params.Of(r.PostForm)); err != nil {
				c.writeDashboard(w, r, pages.Dashboard{}, err)
				return
			}
			http.Redirect(w, r, backTo(r.Referer()), http.StatusSeeOther)
		})
	}
	for _, a := range c.actions() {
		press(a.path, a.read)
	}
	press("faults", func(_ *http.Request, p *params.Reader) func() (any, error) {
		settings := faultOfForm(p)
		return func() (any, error) { return c.gateway.Inject(settings, slowInForm) }
	})
	press("faults/{id}/remove", plain(func(id string) (any, error) { return c.gateway.RemoveFaults(id) }))
	mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		c.writeDashboard(w, r, pages.Dashboard{}, &Error{Status: http.StatusNotFound, Text: "This page does not exist."})
	})
}

// backTo returns where the browser is sent after an action: the page that had the button, and always one of the dashboard.
func backTo(referer string) string {
	u, err := url.Parse(referer)
	if err != nil || !strings.HasPrefix(path.Clean(u.Path)+"/", Path) {
		return Path + "?done=1"
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: "done=1"}).String()
}

func (c *Console) writeDashboard(w http.ResponseWriter, r *http.Request, page pages.Dashboard, err error) {
	status := http.StatusOK
	if err != nil {
		e := asError(err)
		status, page = e.Status, pages.Dashboard{Title: "Error", Sections: []pages.Section{{Text: e.Text}}}
	}
	page.Label, page.Tabs = c.settings.Label, tabs(r.URL.Path)
	if r.URL.Query().Get("done") != "" {
		page.Notice = "Done."
	}
	w.Header().Set("Content-Security-Policy", policy+"; form-action 'self'")
	w.Header().Set("Referrer-Policy", "same-origin") // with no-referrer a browser would send neither the origin of a form nor its page
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
