package check

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// IP checks the cardholder's IP address: one address and nothing else. A header such as X-Forwarded-For can have several.
func (v *Violations) IP(member, s string) {
	ip, err := netip.ParseAddr(s)
	v.AddIf(err != nil || ip.Zone() != "", member, RuleFormat, "must be one IP address: no port, no brackets, no zone, no list and no host name")
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
	case !isSafe(u, insecure):
		v.Add(member, RuleFormat, "must be https, or http to a loopback host")
	}
	return u
}

// SecretURL checks the URL at which a secret arrives: https, or http to a loopback host.
func (v *Violations) SecretURL(member, s string, limit int) {
	before := v.Len()
	if v.WebURL(member, s, limit); v.Len() == before {
		u, err := url.Parse(s)
		v.AddIf(err != nil || !isSafe(u, false), member, RuleFormat, "must be https, or http to a loopback host")
	}
}

// isSafe reports whether nobody else can read what is sent to a server.
func isSafe(u *url.URL, insecure bool) bool {
	return u.Scheme == "https" || u.Scheme == "http" && (insecure || isLoopback(u.Hostname()))
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
