package sandbox

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// controlPath is where the dashboard and the control interface begin.
const controlPath = "/_sandbox/"

// isControl reports whether a path belongs to the dashboard or the control interface.
func isControl(path string) bool {
	return strings.HasPrefix(path, controlPath) || path == strings.TrimSuffix(controlPath, "/")
}

// controlRefused says why a request must not reach the control interface, or "". Three things are looked at: who
// sends it, since only this machine may; which host it names, since a web page can give a name of its own a loopback
// address (DNS rebinding); and, for what changes something, which page sends it (cross-site request forgery).
func controlRefused(r *http.Request, access ControlAccess) string {
	if access == ControlLoopback {
		if r.RemoteAddr != "" && !isLoopback(r.RemoteAddr) { // without an address it comes from RoundTripper
			return "the control interface answers requests from this machine only"
		}
		if r.RemoteAddr != "" && !isLoopback(r.Host) {
			return "the control interface answers under a loopback host name only"
		}
		for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
			if r.Header.Get(header) != "" {
				return "the control interface does not answer what a proxy passes on"
			}
		}
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return "the request comes from another site"
	}
	return ""
}

// isLoopback reports whether a host, with or without a port, is this machine.
func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// replyWriter lets an http.Handler make a reply.
type replyWriter struct{ reply reply }

func (w *replyWriter) Header() http.Header { return w.reply.header }

func (w *replyWriter) WriteHeader(status int) {
	if w.reply.status == 0 {
		w.reply.status = status
	}
}

func (w *replyWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.reply.body = append(w.reply.body, b...)
	return len(b), nil
}

// handle runs a handler and returns its reply.
func handle(h http.Handler, r *http.Request) reply {
	w := &replyWriter{reply: reply{header: make(http.Header)}}
	h.ServeHTTP(w, r)
	w.WriteHeader(http.StatusOK)
	return w.reply
}
