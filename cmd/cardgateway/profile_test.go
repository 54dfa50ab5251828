package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestProfileInUse: the profile is in what is printed to be run next, and check names it.
func TestProfileInUse(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{Location: time.UTC})
	path := writeText(t, t.TempDir(), "config.toml", fmt.Sprintf("app-id = 7\nzone = 'UTC'\n[profile.sandbox]\nbase-url = %q\nmerchant-id = 'm1'\nsecret = %q\n", server.URL, secretKey))
	r := tool(t, nil, "check", "--config", path, "--profile", "sandbox")
	r.want(t, exit.OK)
	if want := "base-url             " + server.URL + " (file " + path + ", profile sandbox)\n"; !strings.Contains(r.out, want) {
		t.Errorf("got\n%s\nwant in it %q", r.out, want)
	}
	server.Inject(sandbox.Fault{Operation: sandbox.OpSearches, Times: -1, Commit: sandbox.CommitNever, Code: 999})
	tool(t, nil, "resolve", "payment", "t-1", "--amount", "1.00", "--currency", "EUR", "--sent-at", "2026-11-22", "--wait", "1ms",
		"--config", path, "--profile", "sandbox").want(t, exit.Unknown, " --config "+path+" --profile sandbox\n")
}

func TestProfilesThatAreWrong(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       string
	}{
		{"unknown", "[profile.b]\napp-id = 1\n[profile.c]\n", `there is no profile "a"; there are: b, c`},
		{"none", "app-id = 1", `there is no profile "a"; there are: none; write [profile.NAME]`},
		{"no table", "profile = 'a'", "a profile is a table: [profile.NAME]"},
		{"no tables", "[profile]\na = 'b'", "a profile is a table: [profile.NAME]"},
		{"unknown setting", "[profile.a]\nurl = 'x'", `profile a: there is no setting "url"`},
		{"unknown setting of another", "[profile.a]\n[profile.b]\nurl = 'x'", `profile b: there is no setting "url"`},
		{"two secrets", "[profile.a]\nsecret = 'x'\nsecret-file = 'y'", "the secret key is set twice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := writeText(t, t.TempDir(), "config.toml", test.text)
			tool(t, nil, "get", "1", "--config", path, "--profile", "a").want(t, exit.Failed, test.want)
		})
	}
	tool(t, nil, "get", "1", "--profile", "a").want(t, exit.Failed, "the configuration file, which must have the profile a, cannot be read")
}

// TestSecretCommand: the key is what a command prints.
func TestSecretCommand(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{})
	env := with(environment(server.URL), "CARDGATEWAY_SECRET", "")
	for _, test := range []struct {
		name, command string
		code          int
		want          string
	}{
		{"prints it", "printf '%s\\n' " + secretKey, exit.Negative, "the gateway does not know it"},
		{"words on stderr", "echo please touch the key >&2; echo " + secretKey, exit.Negative, "please touch the key"},
		{"fails", "echo " + secretKey + "; exit 3", exit.Failed, "secret-command (environment CARDGATEWAY_SECRET_COMMAND) failed: exit status 3"},
		{"prints nothing", "true", exit.Failed, "is empty"},
		{"is none", "no-such-command-7", exit.Failed, "failed: exit status 127"},
		{"prints too much", "yes", exit.Failed, "it printed more than 64 KiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool(t, with(env, "CARDGATEWAY_SECRET_COMMAND", test.command), "get", "123").want(t, test.code, test.want)
		})
	}
	tool(t, with(env, "CARDGATEWAY_SECRET_COMMAND", "true", "CARDGATEWAY_SECRET", "x"), "get", "1").want(t, exit.Failed,
		"the secret key is set twice, with secret (environment CARDGATEWAY_SECRET) and with secret-command")
	tool(t, env, "get", "123", "--secret-command", "echo "+secretKey).want(t, exit.Negative, "the gateway does not know it")
}
