package sandboxcommand

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/test/testprogram"
)

// serve runs the command until the end of the test, and returns its URL.
func serve(t *testing.T, args ...string) (base string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, "sandbox", args, in) }()
	base, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the command ended with %v", err)
		}
	})
	return strings.TrimSpace(base)
}

// TestFromPython pays, loses responses and refunds from a program in another language.
func TestFromPython(t *testing.T) {
	python := testprogram.Python.Path(t)
	base := serve(t, "-secret", "test-secret", "-scale", "0.01", "-refund-settle", "-1s")
	text, err := run(t, time.Minute, "", python, "testdata/payment.py", base, "test-secret")
	wantDone(t, text, err)
}

// TestFromTypeScript makes a client from the description that the sandbox serves, after Redocly has found nothing to warn of,
// and pays, resolves and refunds with it.
func TestFromTypeScript(t *testing.T) {
	npm := testprogram.Node.Path(t)
	base := serve(t, "-secret", "test-secret", "-scale", "0.01")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/typescript")); err != nil {
		t.Fatal(err)
	}
	download(t, base+"/_sandbox/openapi.json", filepath.Join(dir, "gateway.json"))
	if text, err := run(t, 5*time.Minute, dir, npm, "ci"); err != nil {
		testprogram.Node.Check(t, testprogram.Node.Missing("npm ci: %v: %s", err, text))
	}
	if text, err := run(t, 5*time.Minute, dir, npm, "run", "build"); err != nil {
		t.Fatalf("npm run build: %v: %s", err, text)
	}
	text, err := run(t, time.Minute, dir, "node", "payment.js", base)
	wantDone(t, text, err)
}

// run runs a program in a directory, and returns what it has printed.
func run(t *testing.T, limit time.Duration, dir, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = dir
	text, err := command.CombinedOutput()
	return string(text), err
}

func wantDone(t *testing.T, text string, err error) {
	t.Helper()
	if err != nil || strings.TrimSpace(text) != "done" {
		t.Errorf("the program says %q, %v; want done", text, err)
	}
}

func download(t *testing.T, url, file string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got HTTP %d, %v", response.StatusCode, err)
	}
}
