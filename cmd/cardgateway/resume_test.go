package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// interruptedAt puts a front before the gateway. The context ends with the nth search.
func interruptedAt(t *testing.T, server *sandbox.Server, n int32) (url string, ctx context.Context) {
	ctx, cancel := context.WithCancel(t.Context())
	var count atomic.Int32
	return changing(t, server, func(_ *http.Request, body string) string {
		if count.Add(1) == n {
			cancel()
		}
		return body
	}), ctx
}

// TestCheckpoint interrupts a list and continues it: every row is written once, the titles once, and the sums are those of
// the whole list.
func TestCheckpoint(t *testing.T) {
	for _, format := range []string{"csv", "jsonl", "sum"} {
		t.Run(format, func(t *testing.T) {
			server, from, to := seeded(t, sandbox.Options{MaxPageSize: 20})
			url, ctx := interruptedAt(t, server, 20)
			env := environment(url)
			path := filepath.Join(t.TempDir(), "it's a checkpoint.json")
			flags := []string{"--format", format}
			if format == "sum" {
				flags = []string{"--sum"}
			}
			args := append([]string{"orders", "--from", from.Format(time.RFC3339), "--to", to.Format(time.RFC3339), "--checkpoint", path}, flags...)

			first := toolUntil(t, ctx, env, args...)
			first.want(t, exit.Interrupted, "saved in "+path, "cardgateway orders --checkpoint '", "interrupted; the list is not complete")
			lacks(t, readText(t, path), secretKey)
			second := tool(t, env, "orders", "--checkpoint", path)
			second.want(t, exit.OK, "resuming orders from ", "the list is complete, "+path+" was removed")
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("got %v, want no file", err)
			}
			left, err := filepath.Glob(filepath.Dir(path) + "/*")
			if err != nil || len(left) > 0 {
				t.Errorf("got the files %q, %v, want none", left, err)
			}
			whole := tool(t, env, append([]string{"orders", "--last", "4d"}, flags...)...)
			whole.want(t, exit.OK)
			if format == "sum" {
				if second.out != whole.out {
					t.Errorf("got sums %s, want %s", second.out, whole.out)
				}
				return
			}
			if !strings.HasSuffix(strings.Split(second.err, "cardgateway: the list")[0], sumsOf(whole.err)) {
				t.Errorf("got sums %s, want %s", second.err, whole.err)
			}
			got, want := strings.Split(first.out+second.out, "\n"), strings.Split(whole.out, "\n")
			if n := strings.Count(first.out, "\n"); n < 50 || n > 500 {
				t.Errorf("got %d lines before the interruption, want some and not all", n)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %d lines, want %d", len(got), len(want))
			}
		})
	}
}

// sumsOf returns the lines with sums.
func sumsOf(text string) string {
	before, _, _ := strings.Cut(text, "cardgateway: ")
	return before
}

// TestCheckpointOfAnotherList names what differs.
func TestCheckpointOfAnotherList(t *testing.T) {
	server, from, to := seeded(t, sandbox.Options{MaxPageSize: 20})
	url, ctx := interruptedAt(t, server, 10)
	env := environment(url)
	path := filepath.Join(t.TempDir(), "c.json")
	span := []string{"--from", from.Format(time.RFC3339), "--to", to.Format(time.RFC3339)}
	toolUntil(t, ctx, env, append([]string{"orders", "--checkpoint", path}, span...)...).want(t, exit.Interrupted)
	other := writeText(t, t.TempDir(), "other.json", `{"list": "orders", "more": 1}`)
	for _, test := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"command", env, []string{"refunds", "--checkpoint", path}, "command was orders and is refunds now"},
		{"gateway", with(env, "CARDGATEWAY_BASE_URL", server.URL), []string{"orders", "--checkpoint", path}, "gateway was " + url},
		{"app", with(env, "CARDGATEWAY_APP_ID", "8"), []string{"orders", "--checkpoint", path}, "app-id was 7 and is 8 now"},
		{"zone", with(env, "CARDGATEWAY_ZONE", "UTC"), []string{"orders", "--checkpoint", path}, "and is UTC now"},
		{"format", env, []string{"orders", "--checkpoint", path, "--format", "jsonl"}, "format was csv and is jsonl now"},
		{"range", env, []string{"orders", "--checkpoint", path, "--month", "2020-01"}, "you can omit it"},
		{"state", env, []string{"orders", "--checkpoint", path, "--state", "approved"}, "the ids or states are different"},
		{"no checkpoint", env, []string{"orders", "--checkpoint", other}, "is not a checkpoint of this program"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool(t, test.env, test.args...).wantRefused(t, test.want)
		})
	}
	tool(t, env, append([]string{"orders", "--checkpoint", path}, span...)...).want(t, exit.OK, "the list is complete")
}

// TestGatewayFailsOnTheWay: what was read is saved, and a list says that it is not complete.
func TestGatewayFailsOnTheWay(t *testing.T) {
	server, _, _ := seeded(t, sandbox.Options{MaxPageSize: 20})
	server.Inject(sandbox.Fault{Operation: sandbox.OpSearches, Skip: 15, Times: -1, Commit: sandbox.CommitNever, Code: 201})
	env := environment(server.URL)
	path := filepath.Join(t.TempDir(), "c.json")
	args := []string{"orders", "--last", "4d", "--state", "approved,declined", "--checkpoint", path}
	r := tool(t, env, args...)
	r.want(t, exit.Failed, "saved in "+path, "the list is not complete: ", "201")
	server.ClearFaults()
	next := r.printed(t, "To resume, append to the same file: ")
	if want := []string{"orders", "--checkpoint", path, "--state=approved,declined"}; !slices.Equal(next, want) {
		t.Errorf("got the command %q, want %q", next, want)
	}
	if t.Failed() {
		return
	}
	tool(t, env, args...).want(t, exit.OK, "resuming orders") // the range of --last is another one now, and does not matter
}
