package check_test

import (
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/check"
)

const (
	noIP         = "format: must be one IP address: no port, no brackets, no zone, no list and no host name"
	noWebURL     = "format: must be an absolute http or https URL without user info"
	noBaseURL    = "format: must be an absolute URL without query, fragment and user info"
	noSafeScheme = "format: must be https, or http to a loopback host"
)

func TestIP(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"203.0.113.7", nil}, {"2001:db8::7", nil}, {"::ffff:203.0.113.7", nil},
		{"203.0.113.7, 198.51.100.1", []string{noIP}}, {"203.0.113.7,", []string{noIP}}, {"203.0.113.7/32", []string{noIP}}, {"fe80::1%eth0", []string{noIP}},
		{"[2001:db8::1]", []string{noIP}}, {" 203.0.113.7", []string{noIP}}, {"203.0.113.7\n", []string{noIP}}, {"for=203.0.113.7", []string{noIP}},
		{"203.0.113.7:4711", []string{noIP}}, {"[2001:db8::7]:443", []string{noIP}}, {"localhost", []string{noIP}}, {"unknown", []string{noIP}},
		{"203.0.113", []string{noIP}}, {"203.0.113.256", []string{noIP}}, {"203.0.113.007", []string{noIP}}, {strings.Repeat("1", 65), []string{noIP}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			wantFound(t, tt.text, func(v *check.Violations) { v.IP("m", tt.text) }, tt.want...)
		})
	}
}

func TestWebURL(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"https://shop.example/notify?a=b", nil}, {"http://shop.example:8080/", nil},
		{"", []string{noWebURL}}, {"/notify", []string{noWebURL}}, {"ftp://shop.example/", []string{noWebURL}}, {"https://", []string{noWebURL}},
		{"https://user@shop.example/", []string{noWebURL}}, {"https://shop.example/a b", []string{noWebURL}},
		{"https://shop.example/\n", []string{control, noWebURL}},
		{"https://shop.example/" + strings.Repeat("a", 20), []string{"length: has 41 characters, at most 40 are allowed"}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			wantFound(t, tt.text, func(v *check.Violations) { v.WebURL("m", tt.text, 40) }, tt.want...)
		})
	}
}

func TestBaseURL(t *testing.T) {
	for _, tt := range []struct {
		text     string
		insecure bool
		want     []string
	}{
		{"https://gateway.example/api", false, nil}, {"https://gateway.example:8443", false, nil}, {"HTTPS://gateway.example", false, nil},
		{
			"http://localhost:8080", false, nil,
		}, {"http://LocalHost", false, nil}, {"http://127.0.0.1", false, nil}, {"http://127.8.9.1:80", false, nil}, {"http://[::1]:80", false, nil},
		{"http://gateway.example", false, []string{noSafeScheme}}, {"http://localhost.example", false, []string{noSafeScheme}},
		{"http://192.0.2.1", false, []string{noSafeScheme}}, {"ftp://localhost", false, []string{noSafeScheme}},
		{"http://gateway.example", true, nil}, {"ftp://gateway.example", true, []string{noSafeScheme}},
		{
			"", false, []string{"required: is required"},
		}, {"gateway.example", false, []string{noBaseURL}}, {"/api", false, []string{noBaseURL}}, {"https://", false, []string{noBaseURL}},
		{"https://:443", false, []string{noBaseURL}}, {"https://user@gateway.example", false, []string{noBaseURL}},
		{"https://gateway.example?a=b", false, []string{noBaseURL}}, {"https://gateway.example#a", false, []string{noBaseURL}},
		{"https://gateway.example/\x7f", false, []string{noBaseURL}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			wantFound(t, tt.text, func(v *check.Violations) {
				u := v.BaseURL("m", tt.text, tt.insecure)
				if tt.want == nil && (u == nil || !strings.EqualFold(u.String(), tt.text)) {
					t.Errorf("%s: got %v", tt.text, u)
				}
			}, tt.want...)
		})
	}
}
