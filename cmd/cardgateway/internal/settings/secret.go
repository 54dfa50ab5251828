package settings

import (
	"io"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
)

// readSecret reads the secret key into the list of settings, if a file has it. A flag overrides the environment, and the environment
// overrides the configuration file.
func readSecret(list []Setting, stderr io.Writer) error {
	rank := func(s Setting) int {
		kind, _, _ := strings.Cut(s.From, " ")
		return slices.Index([]string{"flag", "environment", "file"}, kind)
	}
	secret, file := find(list, Secret), find(list, "secret-file")
	switch {
	case file.Value == "" || secret.Value != "" && rank(*secret) < rank(*file):
		return nil
	case secret.Value != "" && rank(*secret) == rank(*file):
		return exit.Fail(exit.Failed, "the secret key is set twice, with %s (%s) and with %s (%s): remove one of them",
			secret.Name, secret.From, file.Name, file.From)
	}
	text, err := files.ReadBounded(file.Value, maxSettings)
	if err != nil {
		return exit.Fail(exit.Failed, "secret-file (%s) cannot be read: %v", file.From, err)
	}
	secret.From, secret.Value = "file "+file.Value, strings.TrimRight(text, "\r\n")
	if strings.TrimSpace(secret.Value) == "" {
		return exit.Fail(exit.Failed, "%s (%s) is empty: %s", file.Name, file.From, file.Value)
	}
	warnIfReadable(stderr, file.Value)
	return nil
}
