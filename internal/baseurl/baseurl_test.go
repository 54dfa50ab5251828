package baseurl

import "testing"

func TestNormal(t *testing.T) {
	for base, want := range map[string]string{
		"https://gateway.test":          "https://gateway.test",
		"HTTPS://Gateway.Test/":         "https://gateway.test",
		"https://gateway.test:443/v1//": "https://gateway.test/v1",
		"https://gateway.test:80":       "https://gateway.test:80",
		"http://gateway.test:80":        "http://gateway.test",
		"https://gateway.test:/":        "https://gateway.test",
		"https://[2001:DB8::1]:443":     "https://[2001:db8::1]",
		"https://[2001:db8::443]":       "https://[2001:db8::443]",
		"http://gateway.test:443":       "http://gateway.test:443",
		"https://gateway.test/A":        "https://gateway.test/A",
		"https://gateway.test/a%2Fb/":   "https://gateway.test/a%2Fb",
		" https://gateway.test/\n":      "https://gateway.test",
		"no URL %":                      "no URL %",
		"no URL %\n":                    "no URL %",
		"":                              "",
	} {
		t.Run(base, func(t *testing.T) {
			if got := Normal(base); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
