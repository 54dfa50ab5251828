package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

func TestNoConfiguration(t *testing.T) {
	r := tool(t, nil, "get", "123")
	r.want(t, exit.NoAnswer, "base-url is missing: set --base-url, CARDGATEWAY_BASE_URL, or base-url in ", "app-id is missing")
	if r.out != "" {
		t.Errorf("got stdout %q, want nothing", r.out)
	}
}

func TestSettingsThatAreWrong(t *testing.T) {
	env := environment("https://gateway.example")
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := file("key", secretKey+"\n")
	for _, test := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"http", with(env, "CARDGATEWAY_BASE_URL", "http://gateway.example"), nil, "base-url (environment CARDGATEWAY_BASE_URL) "},
		{"user info", env, []string{"--base-url", "https://u:" + secretKey + "@gateway.example"}, "base-url (flag --base-url) "},
		{"app", env, []string{"--app-id", "x"}, "app-id (flag --app-id) "},
		{"zone", env, []string{"--zone", "Mars"}, `zone (flag --zone): "Mars" is not a time zone`},
		{"timeout", with(env, "CARDGATEWAY_TIMEOUT", "30"), nil, `timeout (environment CARDGATEWAY_TIMEOUT): "30" is not a duration`},
		{"merchant without secret", with(env, "CARDGATEWAY_SECRET", ""), nil, "merchant-id is set (environment CARDGATEWAY_MERCHANT_ID), and the secret key is missing"},
		{"secret without merchant", with(env, "CARDGATEWAY_MERCHANT_ID", ""), nil, "the secret key is set (environment CARDGATEWAY_SECRET), and merchant-id is missing"},
		{"two secrets", with(env, "CARDGATEWAY_SECRET_FILE", key), nil, "the secret key is set twice"},
		{"no secret file", env, []string{"--secret-file", dir + "/none"}, "secret-file (flag --secret-file) cannot be read"},
		{"empty secret file", env, []string{"--secret-file", file("empty", "\n")}, "is empty"},
		{"no file", env, []string{"--config", dir + "/none.toml"}, "the configuration file cannot be read"},
		{"not TOML", env, []string{"--config", file("a.toml", "app-id = 7\nsecret: "+secretKey)}, "a.toml, line 2: is not TOML"},
		{"unknown name", env, []string{"--config", file("b.toml", "url = 'x'")}, `there is no setting "url"; there are secret, base-url,`},
		{"no text", env, []string{"--config", file("c.toml", "zone = [1]")}, "zone must be a string"},
		{"too long", env, []string{"--config", file("d.toml", strings.Repeat("#", 70000))}, "more than 64 KiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool(t, test.env, append([]string{"get", "123"}, test.args...)...).want(t, exit.NoAnswer, test.want)
		})
	}
}

// TestSecretFile: the key is read from a file, which others should not be able to read.
func TestSecretFile(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{})
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(secretKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := with(environment(server.URL), "CARDGATEWAY_SECRET", "wrong")
	tool(t, env, "get", "123", "--secret-file", key).want(t, exit.No, "the gateway does not know it")
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if os.PathSeparator == '/' {
		tool(t, env, "get", "123", "--secret-file", key).want(t, exit.No, "warning: "+key+" contains the secret key, and other users can read it")
	}
}

// TestFilePermissions: a file that holds the secret key itself is warned of as well.
func TestFilePermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("secret = '"+secretKey+"'"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := tool(t, map[string]string{"CARDGATEWAY_CONFIG": path}, "get", "1")
	r.want(t, exit.NoAnswer, "base-url is missing")
	if os.PathSeparator == '/' && !strings.Contains(r.err, "warning: "+path) {
		t.Errorf("got %q, want a warning", r.err)
	}
}
