package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// forwarder sends notifications to a program of the merchant's.
type forwarder struct {
	to      *url.URL
	shown   string // to, without what may be secret in it
	timeout time.Duration
	client  *http.Client
	now     func() time.Time
}

// largestAnswer bounds what a program answers, in bytes.
const largestAnswer = 1 << 20

// newForwarder takes the address of the program, as the flag or the argument of this name gives it.
func newForwarder(name, to string, timeout time.Duration, now func() time.Time) (*forwarder, error) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, exit.Fail(exit.NoAnswer, "%s must be an http or https URL, such as http://localhost:8080/notify", name)
	}
	if u.User != nil {
		return nil, exit.Fail(exit.NoAnswer, "%s must not have a user or a password", name)
	}
	u.Fragment = ""
	shown := *u
	shown.RawQuery, shown.ForceQuery = "", false
	return &forwarder{
		to: u, shown: shown.String(), timeout: timeout, now: now,
		client: &http.Client{
			// A connection of its own for each: one that is kept may be gone when the program is started anew.
			Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// isAt reports whether the program is this one, by a name or an address that surely means this machine.
func (f *forwarder) isAt(addr net.Addr) bool {
	own, ok := addr.(*net.TCPAddr)
	host := f.to.Hostname()
	return ok && f.to.Port() == strconv.Itoa(own.Port) && (host == "localhost" || net.ParseIP(host).IsLoopback() || host == own.IP.String())
}

// answer is what the program said.
type answer struct {
	status int // zero if there was no answer
	header http.Header
	body   []byte
	took   time.Duration
	err    error // why there was none; it has no URL
}

// isTaken reports whether the notification counts as accepted: published is that HTTP 200 alone does.
func (a *answer) isTaken() bool { return a.status == http.StatusOK }

// note says what is not seen from the status.
func (a *answer) note() string {
	switch {
	case a.err != nil:
		return a.err.Error()
	case a.status >= 300 && a.status < 400:
		return "redirects are not followed"
	case a.status > 200 && a.status < 300:
		return "only 200 counts as accepted: the gateway sends it again"
	}
	return ""
}

// send sends a body as it is, with a header and with a query beside that of the address.
func (f *forwarder) send(ctx context.Context, header http.Header, query string, body []byte) *answer {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	begun := f.now()
	a := f.exchange(ctx, header, query, body)
	a.took = f.now().Sub(begun)
	return a
}

func (f *forwarder) exchange(ctx context.Context, header http.Header, query string, body []byte) *answer {
	to := *f.to
	to.RawQuery = strings.Trim(to.RawQuery+"&"+query, "&")
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return &answer{err: errors.New("the address cannot be asked")}
	}
	r.Header = endToEnd(header)
	if r.Header["User-Agent"] == nil {
		r.Header["User-Agent"] = nil // adds none
	}
	resp, err := f.client.Do(r)
	if err != nil {
		return &answer{err: f.why(err)}
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 {
		return &answer{err: fmt.Errorf("the answer, %d, is none", resp.StatusCode)}
	}
	a := &answer{status: resp.StatusCode, header: endToEnd(resp.Header)}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, largestAnswer+1))
	switch {
	case err != nil:
		return &answer{err: fmt.Errorf("the answer, %d, broke off: %w", resp.StatusCode, f.why(err))}
	case len(a.body) > largestAnswer:
		return &answer{err: fmt.Errorf("the answer, %d, has more than %d MiB", resp.StatusCode, largestAnswer>>20)}
	}
	return a
}

// errTimeout says that the program did not answer in time.
var errTimeout = errors.New("no answer within")

// why puts an error of a connection into words, without the address.
func (f *forwarder) why(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w %v (--timeout)", errTimeout, f.timeout)
	case errors.Is(err, io.EOF):
		return errors.New("the connection was closed without an answer")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused; is the program running?")
	}
	return errors.New(terminal.Clean(err.Error()))
}

// endToEnd returns a header without what is meant for one connection only.
func endToEnd(header http.Header) http.Header {
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	for _, names := range header["Connection"] {
		for name := range strings.SplitSeq(names, ",") {
			header.Del(textproto.TrimString(name))
		}
	}
	for _, name := range []string{
		"Connection", "Content-Length", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade",
	} {
		header.Del(name)
	}
	return header
}
