package main

import (
	"testing"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

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
