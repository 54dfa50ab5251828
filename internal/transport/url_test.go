package transport

import (
	"net/url"
	"testing"
)

func TestEndpoint(t *testing.T) {
	const template = "/payment/{token}"
	plain := func(s string) PathElement { return PathElement{s, s} }
	for _, tt := range []struct {
		name, base, template string
		element              PathElement
		query                url.Values
		want                 string
	}{
		{"no element", "https://gateway.example", "/search", plain(""), nil, "https://gateway.example/search"},
		{"an element", "https://gateway.example:8443/", template, plain("tok-1"), nil, "https://gateway.example:8443/payment/tok-1"},
		{"below a path", "https://gateway.example/api/v1/", template, plain("tok-1"), nil, "https://gateway.example/api/v1/payment/tok-1"},
		{"below an escaped path", "https://gateway.example/a%2Fb", template, plain("tok-1"), nil, "https://gateway.example/a%2Fb/payment/tok-1"},
		{"an escaped element", "https://gateway.example", template, PathElement{"a/b?c", "a%2Fb%3Fc"}, nil, "https://gateway.example/payment/a%2Fb%3Fc"},
		{"a query", "https://gateway.example", "/search", plain(""), url.Values{"b": {"2"}, "a": {"x y"}}, "https://gateway.example/search?a=x+y&b=2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, err := url.Parse(tt.base)
			if err != nil {
				t.Fatal(err)
			}
			u := Endpoint(base, tt.template, tt.element, tt.query)
			if got := u.String(); got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
			}
		})
	}
}
