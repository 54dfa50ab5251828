package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

func TestNoConfiguration(t *testing.T) {
	tool(t, nil, "get", "123").wantRefused(t, "base-url is missing: set --base-url, CARDGATEWAY_BASE_URL, or base-url in ", "app-id is missing")
}

func TestSettingsThatAreWrong(t *testing.T) {
	env := environment("https://gateway.example")
	dir := t.TempDir()
	file := func(name, text string) string { return writeText(t, dir, name, text) }
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
		{"zone of the machine", env, []string{"--zone", "Local"}, `zone (flag --zone): "Local" is not a time zone`},
		{"timeout", with(env, "CARDGATEWAY_TIMEOUT", "30"), nil, `timeout (environment CARDGATEWAY_TIMEOUT): "30" is not a duration`},
		{"hosted page", env, []string{"--hosted-page-lifetime", "0s"}, `hosted-page-lifetime (flag --hosted-page-lifetime): "0s" is not a duration`},
		{"merchant without secret", with(env, "CARDGATEWAY_SECRET", ""), nil,
			"merchant-id is set (environment CARDGATEWAY_MERCHANT_ID), and the secret key is missing"},
		{"secret without merchant", with(env, "CARDGATEWAY_MERCHANT_ID", ""), nil,
			"the secret key is set (environment CARDGATEWAY_SECRET), and merchant-id is missing"},
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
			tool(t, test.env, append([]string{"get", "123"}, test.args...)...).want(t, exit.Failed, test.want)
		})
	}
}

// TestSecretFile: the key is read from a file, which others should not be able to read.
func TestSecretFile(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{})
	key := writeText(t, t.TempDir(), "key", secretKey+"\n")
	env := with(environment(server.URL), "CARDGATEWAY_SECRET", "wrong")
	tool(t, env, "get", "123", "--secret-file", key).want(t, exit.Negative, "the gateway does not know it")
	succeeds(t, os.Chmod(key, 0o644))
	if os.PathSeparator == '/' {
		tool(t, env, "get", "123", "--secret-file", key).want(t, exit.Negative, "warning: "+key+" contains the secret key, and other users can read it")
	}
}

// TestFilePermissions: a file that holds the secret key itself is warned of as well.
func TestFilePermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	succeeds(t, os.WriteFile(path, []byte("secret = '"+secretKey+"'"), 0o644))
	r := tool(t, map[string]string{"CARDGATEWAY_CONFIG": path}, "get", "1")
	r.want(t, exit.Failed, "base-url is missing")
	if os.PathSeparator == '/' {
		holds(t, r.err, "warning: "+path)
	}
}

// TestOneNameForASetting: the examples and the documentation call a setting of the gateway as this program does, and take no secret
// as a flag.
func TestOneNameForASetting(t *testing.T) {
	known := []string{"SECRET"}
	for _, flag := range kong.Must(&settings.Flags{}).Model.Flags {
		known = append(known, strings.TrimPrefix(settings.Variable(flag.Name), "CARDGATEWAY_"))
	}
	variable, secretFlag := regexp.MustCompile(`\b[A-Z]*GATEWAY_([A-Z_]+)\b`), regexp.MustCompile(`"secret(-key)?",`)
	for path, text := range documents(t) {
		for _, found := range variable.FindAllStringSubmatch(text, -1) {
			isTest := strings.HasPrefix(found[1], "REQUIRE_") || slices.Contains([]string{"LONG", "SCREENSHOTS", "SPEED", "LIST_DSN"}, found[1])
			if !isTest && (!strings.HasPrefix(found[0], "CARDGATEWAY_") || !slices.Contains(known, found[1])) {
				t.Errorf("%s: %s is no setting of the program", path, found[0])
			}
		}
		if strings.Contains(path, "examples/") && secretFlag.MatchString(text) {
			t.Errorf("%s has a flag for the secret key", path)
		}
	}
}

// TestSamplesEndWithSIGTERM: systemd and Kubernetes send it, and a program that does not handle it is cut off in a payment.
func TestSamplesEndWithSIGTERM(t *testing.T) {
	for path, text := range documents(t) {
		for line := range strings.Lines(text) {
			if strings.Contains(line, "os.Interrupt") && !strings.Contains(line, "syscall.SIGTERM") {
				t.Errorf("%s: %s", path, line)
			}
		}
	}
}

// documents returns the documentation and the examples' code, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"README.md", "docs/*.md", "examples/*/*.go", "examples/*/README.md"} {
		paths, err := filepath.Glob("../../" + pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: got %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(path, "_test.go") {
				all[path] = string(text)
			}
		}
	}
	return all
}
