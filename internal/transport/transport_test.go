//lint:file-ignore SA1019 deprecated fields that a caller may set are tested

package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestHarden tests every setting that is hardened, and checks that all others are the caller's.
func TestHarden(t *testing.T) {
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetHTTP2(true)
	for _, tt := range []struct {
		name  string
		given *http.Transport
		got   func(h *http.Transport) any
		want  any
	}{
		{"compression", &http.Transport{}, func(h *http.Transport) any { return h.DisableCompression }, true},
		{"header bytes, none given", &http.Transport{}, func(h *http.Transport) any { return h.MaxResponseHeaderBytes }, int64(64 << 10)},
		{
			"header bytes, more given", &http.Transport{MaxResponseHeaderBytes: 64<<10 + 1}, func(h *http.Transport) any { return h.MaxResponseHeaderBytes },
			int64(64 << 10),
		},
		{
			"header bytes, fewer given", &http.Transport{MaxResponseHeaderBytes: 64<<10 - 1}, func(h *http.Transport) any { return h.MaxResponseHeaderBytes },
			int64(64<<10 - 1),
		},
		{"header bytes, one given", &http.Transport{MaxResponseHeaderBytes: 1}, func(h *http.Transport) any { return h.MaxResponseHeaderBytes }, int64(1)},
		{"header bytes, negative", &http.Transport{MaxResponseHeaderBytes: -1}, func(h *http.Transport) any { return h.MaxResponseHeaderBytes }, int64(64 << 10)},
		{"idle connections per host, none given", &http.Transport{}, func(h *http.Transport) any { return h.MaxIdleConnsPerHost }, 128},
		{"idle connections per host, given", &http.Transport{MaxIdleConnsPerHost: 3}, func(h *http.Transport) any { return h.MaxIdleConnsPerHost }, 3},
		{"idle connections per host, negative", &http.Transport{MaxIdleConnsPerHost: -1}, func(h *http.Transport) any { return h.MaxIdleConnsPerHost }, -1},
		{"idle connections, none given", &http.Transport{}, func(h *http.Transport) any { return h.MaxIdleConns }, 0},
		{"idle connections, fewer than per host", &http.Transport{MaxIdleConns: 127}, func(h *http.Transport) any { return h.MaxIdleConns }, 128},
		{"idle connections, as many as per host", &http.Transport{MaxIdleConns: 128}, func(h *http.Transport) any { return h.MaxIdleConns }, 128},
		{"idle connections, more", &http.Transport{MaxIdleConns: 200}, func(h *http.Transport) any { return h.MaxIdleConns }, 200},
		{"idle connections, both given", &http.Transport{MaxIdleConns: 2, MaxIdleConnsPerHost: 3}, func(h *http.Transport) any { return h.MaxIdleConns }, 3},
		{"small buffer to write", &http.Transport{WriteBufferSize: 11}, func(h *http.Transport) any { return h.WriteBufferSize }, maxHeldHead},
		{"large buffer to write", &http.Transport{WriteBufferSize: 9 << 10}, func(h *http.Transport) any { return h.WriteBufferSize }, 9 << 10},
		{"leave to send, none given", &http.Transport{}, func(h *http.Transport) any { return h.ExpectContinueTimeout }, time.Second},
		{"leave to send, given", &http.Transport{ExpectContinueTimeout: time.Minute}, func(h *http.Transport) any { return h.ExpectContinueTimeout }, time.Minute},
		{"TLS, none given", &http.Transport{}, func(h *http.Transport) any { return h.TLSClientConfig.MinVersion }, uint16(tls.VersionTLS12)},
		{
			"TLS, older given", &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS10}},
			func(h *http.Transport) any { return h.TLSClientConfig.MinVersion }, uint16(tls.VersionTLS12),
		},
		{
			"TLS, newer given", &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13}},
			func(h *http.Transport) any { return h.TLSClientConfig.MinVersion }, uint16(tls.VersionTLS13),
		},
		{
			"the rest of TLS", &http.Transport{TLSClientConfig: &tls.Config{ServerName: "pay.example"}},
			func(h *http.Transport) any { return h.TLSClientConfig.ServerName }, "pay.example",
		},
		{
			"protocols in TLS", &http.Transport{TLSClientConfig: &tls.Config{NextProtos: []string{"h2"}}},
			func(h *http.Transport) any { return h.TLSClientConfig.NextProtos }, []string{"http/1.1"},
		},
		{"protocols in TLS, none given", &http.Transport{}, func(h *http.Transport) any { return h.TLSClientConfig.NextProtos }, []string{"http/1.1"}},
		{
			"upgrades in TLS", &http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{"h2": nil}},
			func(h *http.Transport) any { return len(h.TLSNextProto) }, 0,
		},
		{"upgrades in TLS are none, not net/http's own", &http.Transport{}, func(h *http.Transport) any { return h.TLSNextProto != nil }, true},
		{"HTTP/2 forced", &http.Transport{ForceAttemptHTTP2: true}, func(h *http.Transport) any { return h.ForceAttemptHTTP2 }, false},
		{"protocols", &http.Transport{Protocols: both}, func(h *http.Transport) any { return h.Protocols.String() }, "{HTTP1}"},
		{"protocols, none given", &http.Transport{}, func(h *http.Transport) any { return h.Protocols.String() }, "{HTTP1}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := tt.given.TLSClientConfig.Clone()
			h := harden(tt.given)
			if diff := cmp.Diff(tt.want, tt.got(h)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if given := tt.given.TLSClientConfig; before != nil && (given.MinVersion != before.MinVersion || !cmp.Equal(given.NextProtos, before.NextProtos)) {
				t.Errorf("the caller's TLS configuration was changed: got %v", given)
			}
		})
	}

	hardened := map[string]bool{
		"DisableCompression": true, "MaxResponseHeaderBytes": true, "MaxIdleConnsPerHost": true, "MaxIdleConns": true, "ExpectContinueTimeout": true,
		"WriteBufferSize": true,
		"TLSClientConfig": true, "TLSNextProto": true, "ForceAttemptHTTP2": true, "Protocols": true, "DialContext": true, "DialTLSContext": true,
	}
	given := &http.Transport{
		Proxy:                  http.ProxyURL(&url.URL{Host: "proxy.example"}),
		OnProxyConnectResponse: func(context.Context, *url.URL, *http.Request, *http.Response) error { return nil },
		Dial:                   net.Dial, DialTLS: net.Dial, TLSHandshakeTimeout: 3, DisableKeepAlives: true, MaxConnsPerHost: 5, IdleConnTimeout: 7,
		ResponseHeaderTimeout: 9,
		ProxyConnectHeader:    http.Header{"X": {"y"}}, GetProxyConnectHeader: func(context.Context, *url.URL, string) (http.Header, error) { return nil, nil },
		ReadBufferSize: 13, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 15},
	}
	h := reflect.ValueOf(harden(given)).Elem()
	own := reflect.ValueOf(given).Elem()
	for i := range own.NumField() {
		field := own.Type().Field(i)
		if !field.IsExported() || hardened[field.Name] {
			continue
		}
		got, want := h.Field(i), own.Field(i)
		if want.IsZero() {
			t.Errorf("%s is not set by this test", field.Name)
		}
		if field.Type.Kind() == reflect.Func {
			if got.Pointer() != want.Pointer() {
				t.Errorf("%s is not the caller's", field.Name)
			}
		} else if diff := cmp.Diff(want.Interface(), got.Interface()); diff != "" {
			t.Errorf("%s (-given +got):\n%s", field.Name, diff)
		}
	}
}

// TestNewTransport checks the default transport.
func TestNewTransport(t *testing.T) {
	own := newTransport()
	if own.Proxy != nil {
		t.Error("takes a proxy from the environment")
	}
	if own.TLSHandshakeTimeout != 10*time.Second || own.IdleConnTimeout != 90*time.Second || own.DialContext == nil {
		t.Errorf("got a handshake of %v and idle connections of %v", own.TLSHandshakeTimeout, own.IdleConnTimeout)
	}
	if own.DisableKeepAlives || own.TLSClientConfig != nil {
		t.Errorf("got keep-alives disabled %t, TLS %v", own.DisableKeepAlives, own.TLSClientConfig)
	}
}

func TestSkipsVerification(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given http.RoundTripper
		want  bool
	}{
		{"none", nil, false},
		{"a nil transport", (*http.Transport)(nil), false},
		{"no TLS configuration", &http.Transport{}, false},
		{"one that verifies", &http.Transport{TLSClientConfig: &tls.Config{}}, false},
		{"one that does not", &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, true},
		{"another type", http.NewFileTransport(http.Dir(".")), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := SkipsVerification(tt.given); got != tt.want {
				t.Errorf("%s: got %t, want %t", tt.name, got, tt.want)
			}
		})
	}
}

// pipes are connections to a server in memory that responds to every request.
type pipes struct {
	dialled atomic.Int32
	servers sync.WaitGroup
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.dialled.Add(1)
	p.servers.Go(func() {
		defer func() { _ = server.Close() }()
		in := bufio.NewReader(server)
		for respondOnce(server, in) {
		}
	})
	return client, nil
}

var endpoint = url.URL{Scheme: "http", Host: "pay.example", Path: "/"}

// send makes one exchange and returns its body.
func send(t *testing.T, s *Sender, payload []byte) string {
	t.Helper()
	method := http.MethodGet
	if payload != nil {
		method = http.MethodPost
	}
	var buffer Buffer
	defer buffer.Release()
	r := s.Do(NewExchange(t.Context(), method, endpoint, payload), 100, &buffer)
	if r.Err != nil {
		return r.Err.Error()
	}
	return string(r.Body)
}

// TestNewBoundsIdleTime checks how long a connection may be idle before reuse, for payments and for queries.
func TestNewBoundsIdleTime(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		given                  *http.Transport
		idle, rest             time.Duration
		payments, queriesAgain bool // the connection is reused
	}{
		{"within both", &http.Transport{IdleConnTimeout: time.Minute}, 3 * time.Second, 2 * time.Second, true, true},
		{"longer than payments wait", &http.Transport{IdleConnTimeout: time.Minute}, 3 * time.Second, 4 * time.Second, false, true},
		{"longer than both", &http.Transport{IdleConnTimeout: time.Minute}, 3 * time.Second, 2 * time.Minute, false, false},
		{"the transport's own is shorter", &http.Transport{IdleConnTimeout: time.Second}, 3 * time.Second, 2 * time.Second, false, false},
		{"the transport says nothing", &http.Transport{}, 3 * time.Second, 4 * time.Second, false, true},
		{"the transport says nothing, within", &http.Transport{}, 3 * time.Second, 2 * time.Second, true, true},
		{"negative for the transport", &http.Transport{IdleConnTimeout: -1}, 3 * time.Second, 4 * time.Second, false, true},
		{"as long as the transport's", &http.Transport{IdleConnTimeout: 3 * time.Second}, 3 * time.Second, 2 * time.Second, true, true},
		{"none for payments", &http.Transport{IdleConnTimeout: time.Minute}, -1, 0, false, true},
		{"no keep-alives at all", &http.Transport{DisableKeepAlives: true}, 3 * time.Second, 0, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p pipes
				tt.given.DialContext = p.dial
				payments, queries := New(tt.given, tt.idle)
				for _, kind := range []struct {
					name    string
					sender  *Sender
					payload []byte
					want    bool
				}{{"payments", payments, []byte("{}"), tt.payments}, {"queries", queries, nil, tt.queriesAgain}} {
					p.dialled.Store(0)
					for range 2 {
						if got := send(t, kind.sender, kind.payload); got != "right" {
							t.Errorf("%s: got %q", kind.name, got)
						}
						time.Sleep(tt.rest)
						synctest.Wait()
					}
					if got := p.dialled.Load() == 1; got != kind.want {
						t.Errorf("%s: used again: got %t, want %t", kind.name, got, kind.want)
					}
				}
				payments.CloseIdle()
				queries.CloseIdle()
				p.servers.Wait()
			})
		})
	}
}

// TestCloseIdle: each sender closes its own connections.
func TestCloseIdle(t *testing.T) {
	var p pipes
	payments, queries := New(&http.Transport{DialContext: p.dial}, time.Minute)
	for _, s := range []*Sender{payments, queries} {
		p.dialled.Store(0)
		for range 2 {
			send(t, s, []byte("{}"))
			s.CloseIdle()
		}
		if got := p.dialled.Load(); got != 2 {
			t.Errorf("got %d connections, want 2", got)
		}
	}
	p.servers.Wait()
}

// TestForeignRoundTrippers: they are used as they are, for payments and queries alike.
func TestForeignRoundTrippers(t *testing.T) {
	failed := errors.New("refused by the caller's RoundTripper")
	asked := 0
	payments, queries := New(roundTrip(func(*http.Request) (*http.Response, error) { asked++; return nil, failed }), time.Second)
	if payments != queries {
		t.Error("payments and queries have senders of their own")
	}
	if got := send(t, payments, []byte("{}")); got != failed.Error() || asked != 1 {
		t.Errorf("got %q after %d requests, want %q after 1", got, asked, failed)
	}
	payments.CloseIdle() // does nothing
	if payments, _ := New((*http.Transport)(nil), time.Second); payments == nil {
		t.Error("a nil transport gives no sender")
	}
	if payments, queries := New(nil, time.Second); payments == queries {
		t.Error("payments and queries share connections")
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
