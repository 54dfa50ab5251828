package main

import (
	"context"
	"encoding/base64"
	"encoding/csv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// secretKey must be in nothing that the program prints.
const secretKey = "k3y-AGsC0123456789"

// gatewayFor starts a sandbox that asks for credentials.
func gatewayFor(t *testing.T, opts sandbox.Options) *sandbox.Server {
	t.Helper()
	opts.MerchantID, opts.SecretKey, opts.NoNotifications = "m1", secretKey, true
	server, err := sandbox.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// environment has the settings for a gateway.
func environment(url string) map[string]string {
	return map[string]string{
		"CARDGATEWAY_BASE_URL": url, "CARDGATEWAY_APP_ID": "7", "CARDGATEWAY_MERCHANT_ID": "m1", "CARDGATEWAY_SECRET": secretKey, "CARDGATEWAY_TEST_PAYMENTS": "true",
	}
}

// with returns a copy of an environment with other values.
func with(env map[string]string, pairs ...string) map[string]string {
	env = maps.Clone(env)
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return env
}

// result is what a run of the program has left.
type result struct {
	code     int
	out, err string
}

// tool runs the program.
func tool(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	return toolIn(t, t.Context(), system{}, env, args...)
}

// toolUntil runs the program until a context ends, as Ctrl-C does.
func toolUntil(t *testing.T, ctx context.Context, env map[string]string, args ...string) result {
	t.Helper()
	return toolIn(t, ctx, system{}, env, args...)
}

// toolAt runs the program at another time.
func toolAt(t *testing.T, now time.Time, env map[string]string, args ...string) result {
	t.Helper()
	return toolIn(t, t.Context(), system{now: func() time.Time { return now }}, env, args...)
}

// toolIn runs the program in a system of which only what matters is set. Whatever it does, it must not print the secret key.
func toolIn(t *testing.T, ctx context.Context, sys system, env map[string]string, args ...string) result {
	t.Helper()
	var out, errOut clienttest.Buffer
	dir := t.TempDir()
	if sys.in == nil {
		sys.in = strings.NewReader("")
	}
	if sys.now == nil {
		sys.now = time.Now
	}
	if sys.out == nil {
		sys.out = &out
	}
	if sys.err == nil {
		sys.err = io.Discard
	}
	sys.err = io.MultiWriter(&errOut, sys.err)
	sys.getenv = func(name string) string { return env[name] }
	sys.configDir = func() (string, error) { return dir, nil }
	code := run(ctx, args, sys)
	r := result{code, out.String(), errOut.String()}
	lacks(t, r.out+r.err, secretKey, base64.StdEncoding.EncodeToString([]byte("m1:"+secretKey)))
	return r
}

// toolTo runs the program with another stdout.
func toolTo(t *testing.T, out io.Writer, env map[string]string, args ...string) result {
	t.Helper()
	return toolIn(t, t.Context(), system{out: out}, env, args...)
}

// want holds a result to an exit code and to words on stderr.
func (r result) want(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("got exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.out, r.err)
	}
	holds(t, r.err, words...)
}

// wantRefused holds a result to the exit code of what was not possible, to words on stderr, and to nothing on stdout.
func (r result) wantRefused(t *testing.T, words ...string) {
	t.Helper()
	r.want(t, exit.Failed, words...)
	if r.out != "" {
		t.Errorf("got stdout %q, want nothing", r.out)
	}
}

// holds holds a text to words that are in it.
func holds(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("got %s\nwant in it %q", text, w)
		}
	}
}

// lacks holds a text to words that are not in it.
func lacks(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(text, w) {
			t.Errorf("got %s\nwant not in it %q", text, w)
		}
	}
}

// columns returns some columns of the CSV on stdout, without its header line.
func (r result) columns(t *testing.T, names string) string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if err != nil || len(lines) == 0 {
		t.Fatalf("got %q, want CSV: %v", r.out, err)
	}
	var rows []string
	for _, line := range lines[1:] {
		var row []string
		for name := range strings.SplitSeq(names, ",") {
			row = append(row, line[slices.Index(lines[0], name)])
		}
		rows = append(rows, strings.Join(row, ","))
	}
	return strings.Join(rows, "\n")
}

// succeeds checks the error of a call that is to have none. It does not end the test, so any goroutine may call it.
func succeeds(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// writeText writes a file, and returns its path.
func writeText(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	succeeds(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// eventually waits until something is so.
func eventually(t *testing.T, is func() bool, format string, args ...any) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("not within 20 s: "+format, args...)
		}
	}
}

// TestHelp: a flag is explained in the help of its commands, from which the page of commands of the site is made, and nowhere else: no row
// and no item of a list of the pages about the programs begins with one.
func TestHelp(t *testing.T) {
	site := readText(t, "../../.ci/site")
	err := kong.Visit(kong.Must(&commands{}, kong.Vars{"version": ""}).Model, func(node kong.Visitable, next kong.Next) error {
		switch node := node.(type) {
		case *kong.Flag:
			if node.Help == "" {
				t.Errorf("--%s has no help", node.Name)
			}
		case *kong.Command:
			if len(node.Children) > 0 && !regexp.MustCompile(`for group in .*\b`+node.Name+`\b`).MatchString(site) {
				t.Errorf("the site does not show the commands of %s", node.Name)
			}
			if node.Passthrough {
				break
			}
			r := tool(t, nil, append(strings.Fields(node.Path()), "--help")...)
			r.want(t, exit.OK)
			holds(t, r.out, "Usage: cardgateway "+node.Path(), "Exit codes:", "  130  interrupted", "CARDGATEWAY_SECRET", "--base-url")
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	explained := regexp.MustCompile("(?m)^(\\||-|\\*) *`(--?[a-z]|CARDGATEWAY_).*")
	for _, page := range []string{"tool", "sandbox", "reconcile", "operation"} {
		if again := explained.FindString(readText(t, "../../docs/"+page+".md")); again != "" {
			t.Errorf("docs/%s.md explains a flag or a variable again: %s", page, again)
		}
	}
	r := tool(t, nil, "--version")
	r.want(t, exit.OK)
	if !strings.HasPrefix(r.out, "cardgateway ") {
		t.Errorf("got version %q", r.out)
	}
}

func TestWrongUse(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no command", nil, "see cardgateway --help"},
		{"no such command", []string{"pay"}, "unexpected argument pay"},
		{"no command of resolve", []string{"resolve"}, "see cardgateway resolve --help"},
		{"no flags of resolve payment", []string{"resolve", "payment", "t-1"}, "--sent-at=TIME; see cardgateway resolve payment --help"},
		{"no such format of match", []string{"reconcile", "--quiet", "match", "--format", "xml"}, "see cardgateway reconcile match --help"},
		{"no value", []string{"orders", "--last"}, "--last: the value is missing; see cardgateway orders --help"},
		{"an empty filter", []string{"orders", "--last", "1h", "--order", ""}, "--order: the value is empty; set one, or omit the flag\n"},
		{"an empty file", []string{"refund", "123", "--all", "--config="}, "--config: the value is empty"},
		{"an amount, before anything is read", []string{"refund", "123", "--amount", "1,5"}, `--amount: "1,5" is not an amount; write 12.50`},
		{"an empty list", []string{"reconcile", "run", "--list", ""}, "--list: the value is empty"},
		{"empty states", []string{"orders", "--last", "1h", "--state", ""}, "--state: the value is empty"},
		{"an empty section", []string{"reconcile", "match", "--as", ""}, "--as: the value is empty"},
		{"no such flag", []string{"orders", "--dai", "2026-11-21"}, "unknown flag --dai"},
		{"no such format", []string{"orders", "--format", "xml"}, `--format must be one of "table","csv","jsonl" but got "xml"; see`},
		{"a secret as a flag", []string{"check", "--secret=" + secretKey}, "set CARDGATEWAY_SECRET, or use --secret-file"},
		{"a secret as a flag's next word", []string{"orders", "--secret", secretKey}, "set CARDGATEWAY_SECRET"},
		{"a control character", []string{"get\x1b[31m"}, `unexpected argument get\u001b[31m`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := tool(t, nil, test.args...)
			r.wantRefused(t, test.want)
			lacks(t, r.err, "\x1b")
		})
	}
}
