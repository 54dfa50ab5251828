package sandboxcommand

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/test/testprogram"
)

// TestFromPython pays, loses responses and refunds from a program in another language.
func TestFromPython(t *testing.T) {
	python := testprogram.Python.Path(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, "sandbox", []string{"-secret", "test-secret", "-scale", "0.01", "-refund-settle", "-1s"}, in)
	}()
	base, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	limited, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	command := exec.CommandContext(limited, python, "testdata/payment.py", strings.TrimSpace(base), "test-secret")
	text, err := command.CombinedOutput()
	if err != nil || strings.TrimSpace(string(text)) != "done" {
		t.Errorf("the program says %q, %v; want done", text, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
