package sandbox

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// controlPath is the path prefix of the dashboard and the control API.
const controlPath = "/_sandbox/"

// isControl reports whether a path belongs to the dashboard or the control API.
func isControl(path string) bool {
	return strings.HasPrefix(path, controlPath) || path == strings.TrimSuffix(controlPath, "/")
}

// controlRefused returns why a request may not use the control API, or "". It checks three things: who sends it, because
// only this machine may; which host it names, because a web page can resolve a name of its own to a loopback address (DNS
// rebinding); and, for requests that change something, which page sends it (cross-site request forgery).
func controlRefused(r *http.Request, access ControlAccess) string {
	if access == ControlLoopback {
		if r.RemoteAddr != "" && !isLoopback(r.RemoteAddr) { // without an address, it comes from RoundTripper
			return "the control API accepts only requests from this machine"
		}
		if r.RemoteAddr != "" && !isLoopback(r.Host) {
			return "the control API accepts only requests that name a loopback host"
		}
		for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
			if r.Header.Get(header) != "" {
				return "the control API does not accept requests through a proxy"
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

// replyWriter is an http.ResponseWriter that records a reply.
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
