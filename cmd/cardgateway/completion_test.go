package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
)

// TestBashCompletion asks bash.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here: ", err)
	}
	r := tool(t, nil, "completion", "bash")
	r.want(t, exit.OK)
	dir := t.TempDir()
	script := filepath.Join(dir, "completion.bash")
	for path, text := range map[string]string{script: r.out, filepath.Join(dir, "a.toml"): "", filepath.Join(dir, "b.toml"): ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		typed []string
		want  string // what is offered
	}{
		{[]string{"j"}, "journal"},
		{[]string{"journal", ""}, "list show run ack --help"},
		{[]string{"journal", "list", "--fo"}, "--format"},
		{[]string{"journal", "list", "--format", ""}, "table csv jsonl"},
		{[]string{"get", "--format", "d"}, "details"},
		{[]string{"get", "--format", "=", "d"}, "details"}, // --format=d is three words to bash
		{[]string{"--quiet", "resolve", "p"}, "payment"},
		{[]string{"resolve", "payment", "--hos"}, "--hosted-page"},
		{[]string{"orders", "--last", ""}, ""},
		{[]string{"check", "--config", dir + "/a"}, dir + "/a.toml"},
		{[]string{"completion", ""}, "bash zsh fish --help"},
		{[]string{"sandbox", "--bas"}, "--base-url"},
	} {
		t.Run(strings.Join(test.typed, " "), func(t *testing.T) {
			const ask = `source "$1"; shift; COMP_WORDS=(cardgateway "$@"); COMP_CWORD=$#; _cardgateway; echo "${COMPREPLY[*]}"`
			out, err := exec.CommandContext(t.Context(), bash, append([]string{"-uc", ask, "bash", script}, test.typed...)...).CombinedOutput()
			got := strings.TrimSuffix(string(out), "\n")
			if err != nil || got != test.want && !strings.HasPrefix(got, test.want+" --") || test.want == "" && got != "" {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestShells: each shell's script, and the man page, have every command and every flag.
func TestShells(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		r := tool(t, nil, "completion", shell)
		r.want(t, exit.OK)
		for _, words := range []string{"get", "journal list", "resolve refund", "hosted-page", "metrics-file", "absent-after", "fish"} {
			if !strings.Contains(r.out, words) {
				t.Errorf("%s: got no %q", shell, words)
			}
		}
	}
	tool(t, nil, "completion", "csh").want(t, exit.Failed, "must be one of")
	if code, err := toolTo(t, full{}, nil, "completion", "bash"); code != exit.Failed || !strings.Contains(err, "the completion cannot be written") {
		t.Errorf("a full disk: got %d, %q", code, err)
	}
}

// TestMan: the page has all, and no line of text is taken for a request.
func TestMan(t *testing.T) {
	r := tool(t, nil, "man")
	r.want(t, exit.OK)
	for _, words := range []string{
		`.TH "CARDGATEWAY" "1"`, `.SS "cardgateway journal ack <id>"`, "\n\\-\\-absent\\-after=24h\n", "\n\\-q, \\-\\-quiet\n", "  130  interrupted\n",
		"cardgateway orders \\-\\-last 2h\n", "CARDGATEWAY_BASE_URL",
	} {
		if !strings.Contains(r.out, words) {
			t.Errorf("got no %q", words)
		}
	}
	for line := range strings.Lines(r.out) {
		request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if (line[0] == '.' || line[0] == '\'') && !strings.Contains(" .TH .SH .SS .TP .PP .nf .fi ", " "+request+" ") {
			t.Errorf("got the request %q", line)
		}
	}
	if got := manText(`a\b -c`); got != `a\eb \-c` {
		t.Errorf("got %q", got)
	}
}
