//go:build unix

package program

import (
	"bufio"
	"bytes"
	"flag"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var writeOutput = flag.Bool("write", false, "write what the commands of docs/start.md, and the demonstration of docs/reconcile.md, print into the pages")

const startPage = root + "/docs/start.md"

// block is a fenced block of the page.
type block struct{ language, text string }

// TestStart does what docs/start.md tells: it builds the tool, runs the sandbox and the program, pays, and closes a month. What is printed
// is what the page shows, but for numbers, ids and times. With -write it writes what is printed into the page.
func TestStart(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("skipped: bash is not available on this machine")
	}
	page := read(t, startPage)
	steps, _, _ := bytes.Cut(page, []byte("\n## Which call to use\n"))
	var blocks []block
	for _, found := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```").FindAllSubmatch(steps, -1) {
		blocks = append(blocks, block{string(found[1]), string(found[2])})
	}
	var languages []string
	for _, b := range blocks {
		languages = append(languages, b.language)
	}
	const order = "sh sh go sh text sh toml sh text sh sh text sh text"
	if got := strings.Join(languages, " "); got != order {
		t.Fatalf("the blocks of the page are %s, want %s", got, order)
	}

	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	here := strings.NewReplacer("../cardgateway-go", dir, "127.0.0.1:8080", address)
	s := starter{t: t, dir: t.TempDir()}

	if want := "go build -o ../shop/ ./cmd/cardgateway\n"; !strings.Contains(blocks[0].text, want) {
		t.Errorf("the first block does not have %q", want)
	}
	goCommand(t, "build", "-o", s.dir+"/", "./cmd/cardgateway")
	s.write("go.sum", string(read(t, filepath.Join(root, "go.sum")))) // those of the clone: nothing has to be looked up
	s.write("main.go", here.Replace(blocks[2].text))
	s.write("config.toml", here.Replace(blocks[6].text))
	s.start(here.Replace(blocks[1].text))
	await(t, time.Minute, "sandbox", func() bool {
		response, err := http.Get("http://" + address + "/_sandbox/")
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil
	})

	paid := s.pay(here.Replace(blocks[3].text), here.Replace(blocks[5].text))
	time.Sleep(2 * time.Second) // a list ends at the present second, which it leaves out
	printed := map[int]string{
		4:  paid,
		8:  s.run(here.Replace(blocks[7].text)),
		11: s.run(here.Replace(blocks[9].text + blocks[10].text)),
		13: s.run(here.Replace(blocks[12].text)),
	}
	for i, got := range printed {
		got = strings.ReplaceAll(got, address, "127.0.0.1:8080")
		if *writeOutput {
			page = bytes.Replace(page, []byte("```text\n"+blocks[i].text), []byte("```text\n"+got), 1)
		} else if got, want := withoutNumbers(got), withoutNumbers(blocks[i].text); got != want {
			t.Errorf("block %d: got\n%s\nwant\n%s", i, got, want)
		}
	}
	if *writeOutput {
		page = orderID.ReplaceAll(page, orderID.Find([]byte(paid)))
		if err := os.WriteFile(startPage, page, 0o644); err != nil {
			t.Error(err)
		}
	}
	if report, err := os.ReadFile(filepath.Join(s.dir, "month.html")); err != nil || !bytes.Contains(report, []byte("No difference was found.")) {
		t.Errorf("the report is not that of a closed month (%v)", err)
	}
}

// TestDemonstration runs the demonstration of docs/reconcile.md. It prints what the page shows, but for numbers and times.
func TestDemonstration(t *testing.T) {
	t.Parallel()
	const path, command = root + "/docs/reconcile.md", "$ cardgateway reconcile run --demo\n"
	before, rest, found := strings.Cut(string(read(t, path)), command)
	shown, after, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatalf("the page does not have %q", command)
	}
	tool, dir := filepath.Join(t.TempDir(), "cardgateway"), t.TempDir()
	goCommand(t, "build", "-o", tool, "./cmd/cardgateway")
	cmd := exec.CommandContext(t.Context(), tool, "reconcile", "run", "--demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := regexp.MustCompile(regexp.QuoteMeta(dir)+`/cardgateway-demo-\d+`).ReplaceAllString(string(out), "/tmp/cardgateway-demo-1")
	for _, long := range longParts { // the page shows their beginnings
		got = long.ReplaceAllString(got, "$1...\n")
	}
	if *writeOutput {
		if err := os.WriteFile(path, []byte(before+command+got+"```"+after), 0o644); err != nil {
			t.Error(err)
		}
	} else if withoutNumbers(got) != withoutNumbers(shown) {
		t.Errorf("got\n%s\nwant\n%s", got, shown)
	}
}

// What a sandbox made up depends on the day: the table of the classes of differences, the states in a list, what is not final, or open.
var ofDay = regexp.MustCompile(`(?m)(^differences +class .*\n)?(^ *\d+ +[a-z_]+ +(payments|refunds) .*\n)+(\.\.\.\n)?|^cardgateway: --list: \w+ = .*\n|^cardgateway: open at the end .*\n|; \d+ orders? .* not final`)

// longParts are the parts of the output of which the page shows the beginning: what was read of the lists, and the two tables.
var longParts = []*regexp.Regexp{
	regexp.MustCompile(`(?m)(^cardgateway: --list: .* lines read .*\n)(?:^cardgateway: (?:--(?:refund-)?list: |Your list covers ).*\n)+`),
	regexp.MustCompile(`(?m)((?:^ *\d+ +[a-z_]+ +(?:payments|refunds) .*\n){2})(?:^ *\d+ +[a-z_]+ +(?:payments|refunds) .*\n)+`),
	regexp.MustCompile(`(?m)((?:^(?:payments|refunds) +[A-Z]{3} .*\n){2})(?:^(?:payments|refunds) +[A-Z]{3} .*\n)+`),
}

var orderID = regexp.MustCompile(`order-[A-Z2-7]{6}`)

var numbers = regexp.MustCompile(`order-[A-Z2-7]{6}|[A-Z2-7]{20,}|-?\d[\d.,]*| +`)

// withoutNumbers replaces what another run prints differently, and the width of columns.
func withoutNumbers(text string) string {
	return numbers.ReplaceAllStringFunc(ofDay.ReplaceAllString(text, ""), func(s string) string {
		switch {
		case s[0] == ' ':
			return " "
		case strings.HasPrefix(s, "order-"):
			return "order-ID"
		case strings.Trim(s, "-0123456789.,") != "":
			return "ID"
		}
		return "0"
	})
}

// starter does what the page tells, in a directory.
type starter struct {
	t   *testing.T
	dir string
}

func (s starter) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s starter) bash(commands string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), "bash", "-c", commands)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "CARDGATEWAY_CONFIG=config.toml", "GOFLAGS=")
	return cmd
}

// start starts a command that runs until the end of the test.
func (s starter) start(command string) {
	s.t.Helper()
	cmd := s.bash("exec " + command)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// run returns what commands print.
func (s starter) run(commands string) string {
	out, _ := s.bash(commands).CombinedOutput() // a difference has an exit code
	return string(out)
}

// pay runs the program with commands, enters the card as the command card does, and returns what the program has printed.
func (s starter) pay(commands, card string) string {
	s.t.Helper()
	cmd := s.bash("set -e\n" + commands)
	var failures bytes.Buffer
	cmd.Stderr = &failures
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	var printed strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		printed.WriteString(lines.Text() + "\n")
		if id, _, ok := strings.Cut(lines.Text(), " waits"); ok {
			s.enterCard(orderID.ReplaceAllString(card, id))
		}
	}
	if err := cmd.Wait(); err != nil {
		s.t.Fatalf("%v\n%s%s", err, &printed, &failures)
	}
	return printed.String()
}

var curl = regexp.MustCompile(`^curl -H 'Content-Type: (\S+)' (\S+) -d '(.*)'\n$`)

// enterCard sends the request of a curl command.
func (s starter) enterCard(command string) {
	s.t.Helper()
	parts := curl.FindStringSubmatch(strings.ReplaceAll(command, "\\\n  ", ""))
	if parts == nil {
		s.t.Fatalf("the command %q is not understood", command)
	}
	response, err := http.Post(parts[2], parts[1], strings.NewReader(parts[3]))
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: got status %d", command, response.StatusCode)
	}
}
