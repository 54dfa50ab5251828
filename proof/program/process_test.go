//go:build unix

package program

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// process is a running program.
type process struct {
	url    string
	cmd    *exec.Cmd
	output *output
}

// output keeps what a process logs.
type output struct{ clienttest.Buffer }

// errors returns how many errors and alerts were logged.
func (o *output) errors() int { return strings.Count(o.String(), " ERROR ") }

// await waits for a line that has all these words.
func (o *output) await(t *testing.T, words ...string) {
	t.Helper()
	await(t, 20*time.Second, "line with "+strings.Join(words, " and "), func() bool {
		return slices.ContainsFunc(strings.Split(o.String(), "\n"), func(line string) bool {
			return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
		})
	})
}

// start starts a process. The gateway reaches it under public, or directly if that is empty.
func start(t *testing.T, gateway *sandbox.Server, public, database string) *process {
	t.Helper()
	address := freeAddress(t)
	p := &process{url: "http://" + address, cmd: exec.Command(program), output: &output{}}
	p.cmd.Env = append(os.Environ(),
		"CARDGATEWAY_BASE_URL="+gateway.URL, "CARDGATEWAY_APP_ID=123456", "CARDGATEWAY_MERCHANT_ID=m-1", "CARDGATEWAY_SECRET=test-secret", "CARDGATEWAY_TEST_PAYMENTS=true",
		"SHOP_LISTEN="+address, "SHOP_URL="+cmp.Or(public, p.url), "SHOP_DATABASE="+database, "SHOP_KEYS="+keys)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // if the test has not ended it
		_ = p.cmd.Wait()
		if t.Failed() {
			t.Logf("the log of %s:\n%s", p.url, p.output)
		}
	})
	return p
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

// order creates an order, and returns its id. The process may still be starting.
func (p *process) order(t *testing.T) string {
	t.Helper()
	return filepath.Base(p.post(t, "/orders"))
}

var browser = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// post presses a button, and returns where the browser is sent, or "" if the button has no effect any more.
func (p *process) post(t *testing.T, path string) string {
	t.Helper()
	var response *http.Response
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var err error
		if response, err = browser.Do(p.request(t, http.MethodPost, path)); err == nil {
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

// postLater presses a button once without waiting, and sends the status of the response, or 0.
func (p *process) postLater(t *testing.T, path string) <-chan int {
	t.Helper()
	request, status := p.request(t, http.MethodPost, path), make(chan int, 1)
	go func() {
		response, err := browser.Do(request)
		if err != nil {
			status <- 0
			return
		}
		defer response.Body.Close()
		status <- response.StatusCode
	}()
	return status
}

func (p *process) request(t *testing.T, method, path string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Customer", "ada")
	r.Header.Set("X-Real-Ip", "203.0.113.7")
	return r
}

func (p *process) get(t *testing.T, path string) string {
	t.Helper()
	response, err := browser.Do(p.request(t, http.MethodGet, path))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// await waits until the page of an order shows a word, and returns how long that took.
func (p *process) await(t *testing.T, id, word string, most time.Duration) time.Duration {
	t.Helper()
	begun := time.Now()
	await(t, most, word+" on the page of "+id, func() bool { return slices.Contains(strings.Fields(p.get(t, "/orders/"+id)), word) })
	return time.Since(begun)
}

// terminate ends the process as a service manager does.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}

// kill ends the process at once.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed
}
