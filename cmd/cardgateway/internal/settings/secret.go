package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
)

// readSecret reads the secret key into the list of settings. A flag overrides the environment, and the environment overrides the
// file.
func readSecret(ctx context.Context, list []Setting, stderr io.Writer) error {
	rank := func(s Setting) int {
		kind, _, _ := strings.Cut(s.From, " ")
		return slices.Index([]string{"flag", "environment", "file"}, kind)
	}
	var first Setting
	for _, name := range secretNames {
		switch s := *find(list, name); {
		case s.Value == "":
		case first.Value == "" || rank(s) < rank(first):
			first = s
		case rank(s) == rank(first):
			return exit.Fail(exit.Failed, "the secret key is set twice, with %s (%s) and with %s (%s): remove one of them",
				first.Name, first.From, s.Name, s.From)
		}
	}
	secret := find(list, Secret)
	var text string
	var err error
	switch first.Name {
	case "secret-file":
		if text, err = files.ReadBounded(first.Value, maxSettings); err != nil {
			return exit.Fail(exit.Failed, "secret-file (%s) cannot be read: %v", first.From, err)
		}
		secret.From = "file " + first.Value
	case "secret-command":
		if text, err = runSecretCommand(ctx, first.Value, stderr); err != nil {
			return exit.Fail(exit.Failed, "secret-command (%s) failed: %v", first.From, err)
		}
		secret.From = "output of secret-command"
	default:
		return nil
	}
	secret.Value = strings.TrimRight(text, "\r\n")
	if strings.TrimSpace(secret.Value) == "" {
		return exit.Fail(exit.Failed, "%s (%s) is empty: %s", first.Name, first.From, first.Value)
	}
	return nil
}

// maxSecretCommand is the timeout of secret-command, which may ask for a passphrase.
const maxSecretCommand = time.Minute

// runSecretCommand runs a shell command, and returns its output.
func runSecretCommand(ctx context.Context, line string, stderr io.Writer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxSecretCommand)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	out := &boundedBuffer{limit: maxSettings, full: cancel}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = os.Stdin, out, stderr, time.Second
	err := cmd.Run()
	switch {
	case out.isFull:
		return "", fmt.Errorf("it printed more than %d KiB", maxSettings>>10)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("it took longer than %v", maxSecretCommand)
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return string(out.text), err
}

// boundedBuffer is a buffer of limited size. It does not embed bytes.Buffer, because ReadFrom would exceed the limit.
type boundedBuffer struct {
	text   []byte
	limit  int
	full   func() // called when the limit is exceeded
	isFull bool
}

// Write returns an error when the limit is exceeded.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > b.limit {
		b.isFull = true
		b.full()
		return 0, io.ErrShortBuffer
	}
	b.text = append(b.text, p...)
	return len(p), nil
}
