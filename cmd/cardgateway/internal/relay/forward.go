package relay

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

// Forwarder sends notifications to a program of the merchant.
type Forwarder struct {
	to      *url.URL
	Shown   string // to, without what may be secret in it
	Timeout time.Duration
	client  *http.Client
}

// maxAnswer is the maximum size of a program's response, in bytes.
const maxAnswer = 1 << 20

// NewForwarder creates a forwarder to a URL. Name is the flag or argument that contains the URL, for errors.
func NewForwarder(name, to string, timeout time.Duration) (*Forwarder, error) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, exit.Fail(exit.Failed, "%s must be an http or https URL, such as http://localhost:8080/notify", name)
	}
	if u.User != nil {
		return nil, exit.Fail(exit.Failed, "%s must not have a user or a password", name)
	}
	u.Fragment = ""
	shown := *u
	shown.RawQuery, shown.ForceQuery = "", false
	return &Forwarder{
		to: u, Shown: shown.String(), Timeout: timeout,
		client: &http.Client{
			// A new connection for each request: a kept one may be closed when the program is restarted.
			Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// IsAt reports whether the URL is the address own on this machine. It detects only names and addresses that are certain.
func (f *Forwarder) IsAt(addr net.Addr) bool {
	own, ok := addr.(*net.TCPAddr)
	host := f.to.Hostname()
	return ok && f.to.Port() == strconv.Itoa(own.Port) && (host == "localhost" || net.ParseIP(host).IsLoopback() || host == own.IP.String())
}

// Answer is the program's response.
type Answer struct {
	Status int // zero if there was no response
	Header http.Header
	Body   []byte
	took   time.Duration
	Err    error // why there was none; it has no URL
}

// note says what is not seen from the status.
func (a *Answer) note() string {
	switch {
	case a.Err != nil:
		return a.Err.Error()
	case a.Status >= 300 && a.Status < 400:
		return "redirects are not followed"
	case a.Status > 200 && a.Status < 300:
		return "only 200 counts as accepted: the gateway sends it again"
	}
	return ""
}

// Send sends a body unchanged, with headers and with a query string, which is added to that of the URL.
func (f *Forwarder) Send(ctx context.Context, header http.Header, query string, body []byte) *Answer {
	ctx, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	begun := time.Now()
	a := f.exchange(ctx, header, query, body)
	a.took = time.Since(begun)
	return a
}

func (f *Forwarder) exchange(ctx context.Context, header http.Header, query string, body []byte) *Answer {
	to := *f.to
	to.RawQuery = strings.Trim(to.RawQuery+"&"+query, "&")
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return &Answer{Err: errors.New("the URL cannot be requested")}
	}
	r.Header = endToEnd(header)
	if r.Header["User-Agent"] == nil {
		r.Header["User-Agent"] = nil // adds none
	}
	resp, err := f.client.Do(r)
	if err != nil {
		return &Answer{Err: f.why(err)}
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return &Answer{Err: errors.New("the response, 101, is not final")}
	}
	a := &Answer{Status: resp.StatusCode, Header: endToEnd(resp.Header)}
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return &Answer{Err: fmt.Errorf("the response, %d, was cut off: %w", resp.StatusCode, f.why(err))}
	case len(a.Body) > maxAnswer:
		return &Answer{Err: fmt.Errorf("the response, %d, has more than %d MiB", resp.StatusCode, maxAnswer>>20)}
	}
	return a
}

// ErrTimeout means that the program did not respond in time.
var ErrTimeout = errors.New("no response within")

// why describes an error of a connection, without the address.
func (f *Forwarder) why(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w %v (--timeout)", ErrTimeout, f.Timeout)
	case errors.Is(err, io.EOF):
		return errors.New("the connection was closed without a response")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused; is the program running?")
	}
	return errors.New(terminal.Clean(err.Error()))
}

// endToEnd returns headers without the hop-by-hop ones.
func endToEnd(header http.Header) http.Header {
	header = header.Clone()
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
