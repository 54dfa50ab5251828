package sandbox

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// authorized compares digests, so that the time it takes reveals neither content nor length of the secret.
func (o *Options) authorized(r *http.Request) bool {
	if o.MerchantID == "" {
		return true
	}
	user, password, _ := r.BasicAuth()
	got := sha256.Sum256([]byte(user + "\x00" + password))
	want := sha256.Sum256([]byte(o.MerchantID + "\x00" + o.SecretKey))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// isFromPage reports whether a web page sends the request: one of another site, or one under a name that is not loopback's,
// which can have been resolved to this machine after the page was loaded (DNS rebinding).
func isFromPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	page := r.Header.Get("Origin") != "" || site != "" && site != "none"
	return page && !isLoopback(r.Host) || http.NewCrossOriginProtection().Check(r) != nil
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
