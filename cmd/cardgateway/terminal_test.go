//go:build linux || darwin

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// asProgram makes the test binary run the program in place of the tests.
const asProgram = "CARDGATEWAY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		if os.Getenv(noFileGrows) != "" {
			fillDisk()
		}
		main()
	}
	// Most tests wait for a server, a browser or a program: more of them than processors at once take less time.
	if err := flag.Set("test.parallel", "4"); err != nil { // -parallel counts before it
		panic(err)
	}
	code := m.Run()
	if err := errors.Join(pgserver.StopShared(), mysqlserver.StopShared()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// noFileGrows has the system refuse every write to a file of such a program, as a full disk does.
const noFileGrows = "CARDGATEWAY_TEST_NO_FILE_GROWS"

func fillDisk() {
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	limit.Cur = 0
	if err := errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)); err != nil {
		panic(err)
	}
}

// program is the program in a process of its own.
func program(t *testing.T, env map[string]string, args ...string) *exec.Cmd {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), executable, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "XDG_CONFIG_HOME="+t.TempDir())
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// startUntil starts a program and returns its stderr, once that says what is waited for.
func startUntil(t *testing.T, cmd *exec.Cmd, says string) *clienttest.Buffer {
	t.Helper()
	errOut := new(clienttest.Buffer)
	cmd.Stderr = errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return strings.Contains(errOut.String(), says) }, "%q: %s", says, errOut)
	return errOut
}

// ended waits for the end of a program, and returns what it has left.
func ended(cmd *exec.Cmd, errOut fmt.Stringer) result {
	_ = cmd.Wait() // the exit code says it
	return result{cmd.ProcessState.ExitCode(), "", errOut.String()}
}

// ran runs a program to its end, and returns what it has left.
func ran(cmd *exec.Cmd) result {
	var out, errOut clienttest.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	cmd.Stderr = &errOut
	_ = cmd.Run() // the exit code says it
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// pseudoTerminal opens a pseudo terminal, without which a test ends here.
func pseudoTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminal here: ", err)
	}
	t.Cleanup(func() {
		master.Close()
		slave.Close()
	})
	return master, slave
}

// TestTerminal: people see a table and, as long as there are no rows, a bar; a file gets CSV.
func TestTerminal(t *testing.T) {
	t.Parallel()
	server, _, _ := seeded(t, sandbox.Options{MaxPageSize: 20, Search: sandbox.Search{Latency: 40 * time.Millisecond}})
	for _, test := range []struct {
		name       string
		outToo     bool // stdout is the terminal, as stderr is
		want, none string
	}{
		{"all", true, "  currency  card  ", "transactionAt"},
		{"stderr", false, " of the range, left ", "transaction"},
	} {
		t.Run(test.name, func(t *testing.T) {
			master, slave := pseudoTerminal(t)
			succeeds(t, pty.Setsize(slave, &pty.Winsize{Rows: 50, Cols: 160}))
			cmd := program(t, environment(server.URL), "orders", "--last", "4d")
			var file bytes.Buffer
			cmd.Stdout, cmd.Stderr = &file, slave
			if test.outToo {
				cmd.Stdout = slave
			}
			seen := make(chan string)
			go func() {
				text, _ := io.ReadAll(master) // ends with an error when nobody has the other end
				seen <- string(text)
			}()
			err := cmd.Run()
			slave.Close()
			text := <-seen
			if err != nil || !strings.Contains(text, test.want) || strings.Contains(text, test.none) {
				t.Errorf("got %v and %q, want %q and not %q", err, text, test.want, test.none)
			}
			if !test.outToo && !strings.HasPrefix(file.String(), "transactionAt,at,state,") {
				t.Errorf("got %.100q, want CSV", file.String())
			}
			if sumLine(strings.ReplaceAll(text, "\r", ""), "approved", "EUR") == "" {
				t.Errorf("got no sums: %q", text)
			}
		})
	}
}

// TestRefundPrompt asks on a terminal, and sends nothing unless the amount is typed.
func TestRefundPrompt(t *testing.T) {
	server, env, id := paidGateway(t, sandbox.Options{})
	for _, test := range []struct {
		typed    string
		code     int
		want     string
		refunded int
	}{
		{"yes\n", exit.Negative, "nothing was sent: you did not type 12.50", 0},
		{"\x03", exit.Interrupted, "interrupted; nothing was sent", 0},
		{"12.50\n", exit.Unknown, "accepted, not final yet", 1},
	} {
		t.Run(test.want, func(t *testing.T) {
			master, slave := pseudoTerminal(t)
			cmd := program(t, env, "refund", id, "--all", "--refund-id", "r-1")
			cmd.Stdin = slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			errOut := startUntil(t, cmd, "Type the amount")
			slave.Close()
			if _, err := io.WriteString(master, test.typed); err != nil {
				t.Fatal(err)
			}
			ended(cmd, errOut).want(t, test.code, test.want)
			wantRefunds(t, server, "r-1", test.refunded)
		})
	}
}
