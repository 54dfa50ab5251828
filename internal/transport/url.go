package transport

import (
	"net/url"
	"strings"
)

// PathElement is one element of a path, unescaped and escaped.
type PathElement struct{ Plain, Escaped string }

// Endpoint returns the URL of an operation: the path of base, then template, with element in place of its {parameter}.
func Endpoint(base *url.URL, template string, element PathElement, query url.Values) url.URL {
	path, _, _ := strings.Cut(template, "{")
	u := url.URL{
		Scheme:   base.Scheme,
		Host:     base.Host,
		Path:     strings.TrimSuffix(base.Path, "/") + path + element.Plain,
		RawQuery: query.Encode(),
	}
	if element.Escaped != element.Plain || base.RawPath != "" {
		u.RawPath = strings.TrimSuffix(base.EscapedPath(), "/") + path + element.Escaped
	}
	return u
}
