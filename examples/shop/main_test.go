package main

import (
	"strings"
	"testing"
	"time"
)

func TestSettingsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		s          settings
	}{
		{"sandbox", "", settings{}},
		{"sandbox under a public address", "", settings{url: "https://shop.example"}},
		{"gateway", "", settings{gateway: "https://gateway.example", appID: "1"}},
		{"gateway with Basic", "", settings{gateway: "https://gateway.example", appID: "1", merchantID: "m", secretKey: "s"}},
		{"only notifications signed", "", settings{gateway: "https://gateway.example", appID: "1", secretKey: "s"}},
		{"app id alone", "-base-url is missing", settings{appID: "1"}},
		{"merchant id alone", "-base-url is missing", settings{merchantID: "m"}},
		{"secret key alone", "-base-url is missing", settings{secretKey: "s"}},
		{"no secret key", "-merchant-id needs -secret-key", settings{gateway: "https://gateway.example", appID: "1", merchantID: "m"}},
		{"no time", "-settle-every", settings{settleEvery: -1}},
	} {
		if tt.s.settleEvery == 0 {
			tt.s.settleEvery = time.Second
		}
		err := tt.s.check()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}
