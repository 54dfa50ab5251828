package sandbox

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/pages"
)

// addDashboard registers the pages of the dashboard. Their buttons are forms with the actions of the control API.
func (g *Gateway) addDashboard(mux *http.ServeMux) {
	show := func(path string, f func(r *http.Request) (pages.Dashboard, error)) {
		mux.HandleFunc("GET "+controlPath+path, func(w http.ResponseWriter, r *http.Request) {
			page, err := f(r)
			g.writeDashboard(w, r, page, err)
		})
	}
	show("{$}", g.overviewPage)
	show("payments", g.paymentsPage)
	show("payments/{id}", g.paymentPage)
	show("refunds", g.refundsPage)
	show("notifications", g.notificationsPage)
	show("notifications/{id}", g.notificationPage)
	show("requests", g.requestsPage)
	show("requests/{id}", g.requestPage)
	show("faults", g.faultsPage)
	press := func(path string, do func(id string, p *params) error) {
		mux.HandleFunc("POST "+controlPath+path, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if err := r.ParseForm(); err != nil {
				g.writeDashboard(w, r, pages.Dashboard{}, badRequest("the form could not be read"))
				return
			}
			p := formParams(r.PostForm)
			back := p.text("back")
			for name, value := range p.values { // an empty field counts as missing
				if value == "" {
					delete(p.values, name)
				}
			}
			if err := do(r.PathValue("id"), p); err != nil {
				g.writeDashboard(w, r, pages.Dashboard{}, err)
				return
			}
			http.Redirect(w, r, backTo(back), http.StatusSeeOther)
		})
	}
	for _, a := range actions() {
		press(a.path, func(id string, p *params) error {
			_, err := a.do(g, id, p)
			return err
		})
	}
	press("faults", func(_ string, p *params) error {
		f, err := faultOfForm(p)
		if err == nil {
			_, err = g.injectFault(f)
		}
		return err
	})
	press("faults/remove", func(_ string, p *params) error {
		_, err := g.removeFault(p.text("number"))
		return err
	})
	mux.HandleFunc(controlPath, func(w http.ResponseWriter, r *http.Request) {
		g.writeDashboard(w, r, pages.Dashboard{}, &controlError{http.StatusNotFound, "This page does not exist.", ""})
	})
}

// backTo returns where the browser is sent after an action: always a page of the dashboard.
func backTo(back string) string {
	u, err := url.Parse(back)
	if err != nil || !strings.HasPrefix(path.Clean(u.Path)+"/", controlPath) {
		return controlPath + "?done=1"
	}
	return (&url.URL{Path: u.Path, RawQuery: "done=1"}).String()
}

func (g *Gateway) writeDashboard(w http.ResponseWriter, r *http.Request, page pages.Dashboard, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
		page = pages.Dashboard{Title: "Error", Sections: []pages.Section{{Text: err.Error()}}}
		if c, ok := errors.AsType[*controlError](err); ok {
			status = c.status
		}
	}
	page.Label, page.OpenAPI = g.opts.Label, openAPIPath
	page.Path, page.LivePath = liveLinks(r.URL)
	page.Tabs = tabs(r.URL.Path)
	if r.URL.Query().Get("done") != "" {
		page.Notice = "Done."
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("live")); err == nil && n >= 1 && n <= 60 {
		page.Live = strconv.Itoa(n)
	}
	text, err := pages.Render("Dashboard", page)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte("<!doctype html><title>Error</title>")
	}
	reply := htmlReply(status, text)
	for name := range reply.header {
		w.Header().Set(name, reply.header.Get(name))
	}
	w.Header().Set("Content-Security-Policy", reply.header.Get("Content-Security-Policy")+"; form-action 'self'")
	w.Header().Set("Referrer-Policy", "same-origin") // with no-referrer a browser would not send the origin of a form
	w.WriteHeader(reply.status)
	_, _ = w.Write(reply.body)
}

// liveLinks returns the links to a page without and with automatic reload. Both keep the filter.
func liveLinks(u *url.URL) (still, live string) {
	query := u.Query()
	query.Del("done")
	query.Del("live")
	still = (&url.URL{Path: u.Path, RawQuery: query.Encode()}).String()
	query.Set("live", "5")
	return still, (&url.URL{Path: u.Path, RawQuery: query.Encode()}).String()
}

func tabs(path string) []pages.Tab {
	list := []pages.Tab{{Text: "Overview", Link: controlPath, Here: path == controlPath}}
	for _, name := range []string{"Payments", "Refunds", "Notifications", "Requests", "Faults"} {
		link := controlPath + strings.ToLower(name)
		list = append(list, pages.Tab{Text: name, Link: link, Here: path == link || strings.HasPrefix(path, link+"/")})
	}
	return list
}
