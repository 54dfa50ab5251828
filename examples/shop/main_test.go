package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSettings: the secret key comes from the environment or a file, never from a flag, and only a gateway has one.
func TestSettings(t *testing.T) {
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	key := file("key", "from a file\r\n")
	gateway := []string{"-base-url", "https://gateway.example", "-app-id", "1"}
	signed := map[string]string{"CARDGATEWAY_SECRET": "direct"}
	for _, tt := range []struct {
		name, want string
		args       []string
		env        map[string]string
		secret     string
	}{
		{"sandbox", "", nil, nil, ""},
		{"sandbox under a public address", "", []string{"-url", "https://shop.example"}, nil, ""},
		{"gateway", "", gateway, nil, ""},
		{"gateway with Basic", "", append(gateway, "-merchant-id", "m"), signed, "direct"},
		{"only notifications signed", "", gateway, signed, "direct"},
		{"in a file", "", append(gateway, "-secret-file", key), nil, "from a file"},
		{"in a file that the environment names", "", gateway, map[string]string{"CARDGATEWAY_SECRET_FILE": key}, "from a file"},
		{"app id alone", "-base-url is missing", []string{"-app-id", "1"}, nil, ""},
		{"merchant id alone", "-base-url is missing", []string{"-merchant-id", "m"}, nil, ""},
		{"secret key alone", "-base-url is missing", nil, signed, ""},
		{"no secret key", "-merchant-id needs CARDGATEWAY_SECRET or -secret-file", append(gateway, "-merchant-id", "m"), nil, ""},
		{"twice", "set twice", []string{"-secret-file", key}, signed, ""},
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
