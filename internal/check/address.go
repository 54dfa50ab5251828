package check

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// IP checks the cardholder's IP address. The interface has a length limit and no format for it. Only values that are
// certainly not an address are rejected: an address with a port, like http.Request.RemoteAddr, and a host name.
func (v *Violations) IP(member, s string, limit int) {
	v.Text(member, s, limit)
	if _, err := netip.ParseAddr(s); err == nil {
		return
	}
	if _, _, err := net.SplitHostPort(s); err == nil || isHostName(s) {
		v.Add(member, RuleFormat, "must be an IP address without a port, not a host name")
	}
}

// isHostName reports whether s consists of labels of at most 63 letters, digits and hyphens (RFC 1123).
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

// WebURL checks an absolute http or https URL without user info.
func (v *Violations) WebURL(member, s string, limit int) {
	v.Text(member, s, limit)
	if !wire.IsWebURL(s) {
		v.Add(member, RuleFormat, "must be an absolute http or https URL without user info")
	}
}

// BaseURL checks and parses the required address of a server: an absolute https URL, or an http URL of a loopback host,
// without query, fragment and user info. With insecure, http is allowed for any host.
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
