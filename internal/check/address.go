package check

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// IP checks the cardholder's IP address. The interface gives it a length and no form; what is certainly none is refused: an
// address with a port, as http.Request.RemoteAddr has, and the name of a host.
func (v *Violations) IP(member, s string, limit int) {
	v.Text(member, s, limit)
	if _, err := netip.ParseAddr(s); err == nil {
		return
	}
	if _, _, err := net.SplitHostPort(s); err == nil || isHostName(s) {
		v.Add(member, RuleFormat, "must be an IP address without a port, not a host name")
	}
}

// isHostName reports whether s is labels of letters, digits and hyphens, at most 63 of them each (RFC 1123).
func isHostName(s string) bool {
	const maxLabel = 63
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > maxLabel {
			return false
		}
		for i := range len(label) {
			if !ascii.IsAlphanumeric(label[i]) && label[i] != '-' {
				return false
			}
		}
	}
	return true
}

// WebURL checks an absolute http or https URL that can be given to a browser or a server.
func (v *Violations) WebURL(member, s string, limit int) {
	v.Text(member, s, limit)
	if !wire.IsWebURL(s) {
		v.Add(member, RuleFormat, "must be an absolute http or https URL without user info")
	}
}

// BaseURL checks and reads the address of a server, which must be given: an absolute https URL, or an http one of a loopback
// host, without query, fragment and user info. With insecure, http is allowed to any host.
func (v *Violations) BaseURL(member, s string, insecure bool) *url.URL {
	if !v.Require(member, s != "", Required) {
		return nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		v.Add(member, RuleFormat, "must be an absolute URL without query, fragment and user info")
	case u.Scheme != "https" && !(u.Scheme == "http" && (insecure || isLoopback(u.Hostname()))):
		v.Add(member, RuleFormat, "must be https, or http to a loopback host")
	}
	return u
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
