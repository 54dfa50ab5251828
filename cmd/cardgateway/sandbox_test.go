package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// TestSandbox starts the sandbox by the program, and asks it by the program.
func TestSandbox(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errOut clienttest.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"sandbox", "--merchant", "m1", "-secret", secretKey, "-seed", "30", "--days", "2"},
			system{out: &out, err: &errOut, now: time.Now, getenv: func(string) string { return "" }})
	}()
	eventually(t, func() bool { return strings.Contains(out.String(), "dashboard") }, "an address: %s %s", &out, &errOut)
	base, _, _ := strings.Cut(out.String(), "\n")
	r := tool(t, environment(base), "orders", "--last", "3d", "--format", "jsonl")
	r.want(t, exit.OK)
	if n := strings.Count(r.out, "\n"); n != 30 {
		t.Errorf("got %d orders, want 30", n)
	}
	cancel()
	if code := <-ended; code != exit.OK {
		t.Errorf("got exit code %d, want 0: %s", code, errOut.String())
	}
}

func TestSandboxExitCodes(t *testing.T) {
	r := tool(t, nil, "sandbox", "-h")
	r.want(t, exit.OK)
	holds(t, r.out, "Usage of cardgateway sandbox:", "-seed")
	tool(t, nil, "sandbox", "--merchant", "m").want(t, exit.Failed, "sandbox: -merchant needs -secret")
	tool(t, nil, "sandbox", "-nonsense").want(t, exit.Failed, "flag provided but not defined")
}
