// Package baseurl gives equivalent spellings of a gateway's address one form, which names the gateway.
package baseurl

import (
	"net/url"
	"strings"
)

// Normal returns the normal form of a base URL (RFC 3986, section 6.2), without a slash at its end, and without white space around it.
func Normal(base string) string {
	base = strings.TrimSpace(base)
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u.String()
}
