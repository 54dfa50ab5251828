package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		{"no secret key", "-merchant-id needs CARDGATEWAY_SECRET or -secret-file", settings{gateway: "https://gateway.example", appID: "1", merchantID: "m"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.s.check()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
			}
		})
	}
}

// TestSettingsAreParsed: the secret key comes from the environment or a file, never from a flag.
func TestSettingsAreParsed(t *testing.T) {
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	key := file("key", "from a file\r\n")
	for _, tt := range []struct {
		name, want string
		args       []string
		env        map[string]string
		secret     string
	}{
		{"nothing", "", nil, nil, ""},
		{"in the environment", "", nil, map[string]string{"CARDGATEWAY_SECRET": "direct"}, "direct"},
		{"in a file", "", []string{"-secret-file", key}, nil, "from a file"},
		{"in a file that the environment names", "", nil, map[string]string{"CARDGATEWAY_SECRET_FILE": key}, "from a file"},
		{"twice", "set twice", []string{"-secret-file", key}, map[string]string{"CARDGATEWAY_SECRET": "direct"}, ""},
		{"an empty file", "is empty", []string{"-secret-file", file("empty", "\n")}, nil, ""},
		{"no file", "no such file", []string{"-secret-file", key + "2"}, nil, ""},
		{"as a flag", "flag provided but not defined", []string{"-secret-key", "x"}, nil, ""},
		{"a password in a flag", "-db has a password", []string{"-db", "postgres://shop:pass@db/shop"}, nil, ""},
		{"a password in the environment", "", nil, map[string]string{"SHOP_DB": "postgres://shop:pass@db/shop"}, ""},
		{"a backup without a time", "-restored", []string{"-restored", ""}, nil, ""},
		{"a word", `"x" belongs to no flag`, []string{"x"}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := parse(tt.args, func(name string) string { return tt.env[name] }, io.Discard)
			if tt.want == "" && (err != nil || s.secretKey != tt.secret) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %q, %v, want %q, %q", s.secretKey, err, tt.secret, tt.want)
			}
		})
	}
}
