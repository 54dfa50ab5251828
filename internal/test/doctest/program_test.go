package doctest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestProgram builds the program of docs/program.md and uses it as a customer does: one payment loses its response, another
// is made on the hosted page after a decline there, and the first is refunded. Buttons are pressed twice. The sandbox has
// counted how often money moved.
func TestProgram(t *testing.T) {
	gateway, err := sandbox.Start(sandbox.Options{
		MerchantID: "m-1", SecretKey: "test-secret", Cards: sandbox.Cards{HostedRetry: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	s := startProgram(t, gateway)

	first, second := s.order(t), s.order(t)
	gateway.Inject(sandbox.Fault{TransactionID: filepath.Base(first), Reply: sandbox.ReplyReset})
	s.post(t, first+"/token")
	s.await(t, first, "paid") // after a notification, or a query
	s.post(t, first+"/token")

	page := s.post(t, second+"/page")
	s.await(t, second, page) // for a customer who has closed it
	for _, card := range []sandbox.Outcome{sandbox.Declined, sandbox.Approved} {
		if _, err := gateway.EnterCard(page, sandbox.TestCard(card)); err != nil {
			t.Fatal(err)
		}
	}
	s.await(t, second, "paid")

	s.post(t, first+"/refund")
	s.post(t, first+"/refund")
	s.await(t, first, "succeeded")

	for _, path := range []string{first, second} {
		if n := gateway.Executed(filepath.Base(path)); n != 1 {
			t.Errorf("%s was charged %d times, want once", path, n)
		}
	}
	if n := gateway.Refunded(filepath.Base(first)); n != 1 {
		t.Errorf("%s was refunded %d times, want once", first, n)
	}
	if moves := gateway.Moves(0); len(moves) != 3 {
		t.Errorf("money moved %d times, want 3: two payments and a refund: %+v", len(moves), moves)
	}
	s.stop(t)
}

// program is the running program.
type program struct {
	url    string
	cmd    *exec.Cmd
	client *http.Client
	output *output
}

// output keeps what the program logs, for a failed test.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// startProgram builds and starts the only whole program of the page. Its customer has a stored card.
func startProgram(t *testing.T, gateway *sandbox.Server) *program {
	t.Helper()
	pages := readPages(t)
	at := slices.IndexFunc(pages, func(p page) bool { return p.path == "docs/program.md" })
	if at < 0 || len(pages[at].snippets) != 1 {
		t.Fatal("docs/program.md does not have exactly one snippet")
	}
	text := pages[at].snippets[0].text
	if lines := strings.Count(text, "\n"); lines > 250 {
		t.Errorf("the program has %d lines, want at most 250", lines)
	}
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "shop")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", binary, source)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := os.Mkdir(filepath.Join(dir, "tokens"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tokens", "ada"), []byte(gateway.NewToken(sandbox.Approved)), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	s := &program{url: "http://" + address, cmd: exec.Command(binary), output: &output{}}
	s.cmd.Env = append(os.Environ(),
		"CARDGATEWAY_BASE_URL="+gateway.URL, "CARDGATEWAY_APP_ID=123456", "CARDGATEWAY_MERCHANT_ID=m-1", "CARDGATEWAY_SECRET=test-secret",
		"SHOP_LISTEN="+address, "SHOP_URL="+s.url, "SHOP_DIR="+dir)
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	s.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // if stop was not reached
		if t.Failed() {
			t.Logf("the program's log:\n%s", s.output)
		}
	})
	return s
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// order creates an order, and returns its path. The program may still be starting.
func (s *program) order(t *testing.T) string {
	t.Helper()
	return s.post(t, "/orders")
}

// post presses a button, and returns where the browser is sent, or "" if the button has no effect any more.
func (s *program) post(t *testing.T, path string) string {
	t.Helper()
	var response *http.Response
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var err error
		if response, err = s.client.Do(s.request(t, http.MethodPost, path)); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusSeeOther && response.StatusCode != http.StatusConflict {
		t.Fatalf("POST %s: got status %d", path, response.StatusCode)
	}
	return response.Header.Get("Location")
}

func (s *program) request(t *testing.T, method, path string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Customer", "ada")
	r.Header.Set("X-Real-Ip", "203.0.113.7")
	return r
}

// await waits until the page of an order shows a word.
func (s *program) await(t *testing.T, path, word string) {
	t.Helper()
	shown := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		response, err := s.client.Do(s.request(t, http.MethodGet, path))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if shown = string(body); err == nil && slices.Contains(strings.Fields(shown), word) {
			return
		}
	}
	t.Fatalf("%s shows %q, want %s", path, shown, word)
}

// stop ends the program as a service manager does.
func (s *program) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = s.cmd.Process.Kill() })()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}
