package sandboxcommand

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestFromPython pays, loses responses and refunds from a program in another language. It is skipped where there is
// no python3, unless CARDGATEWAY_REQUIRE_PYTHON says that there must be.
func TestFromPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CARDGATEWAY_REQUIRE_PYTHON") != "" {
			t.Fatalf("CARDGATEWAY_REQUIRE_PYTHON is set: %v", err)
		}
		t.Skip("no python3 in the path")
	}
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
