package redact_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/redact"
)

// Errors that hold a secret, or a request, where an ordinary printer does not look.
type (
	inText    struct{}
	inPlus    struct{}
	inGo      struct{}
	inField   struct{ hidden any }
	inPointer struct{ next *node }
	inArray   struct{ raw [24]byte }
	node      struct {
		next  *node
		text  string
		loops *node
	}
	named   string
	several []error
)

func (inText) Error() string      { return "sent " + token }
func (inPlus) Error() string      { return "failed" }
func (inGo) Error() string        { return "failed" }
func (inGo) GoString() string     { return token }
func (inField) Error() string     { return "failed" }
func (inPointer) Error() string   { return "failed" }
func (inArray) Error() string     { return "failed" }
func (named) Error() string       { return "failed" }
func (several) Error() string     { return "several" }
func (e several) Unwrap() []error { return e }

// behind returns an error that holds a value where %#v prints an address.
func behind(v any) error { return inField{&v} }

func (inPlus) Format(f fmt.State, _ rune) {
	if f.Flag('+') {
		_, _ = io.WriteString(f, token)
	}
}

// wrapping holds an error without an Unwrap method.
type wrapping struct{ err error }

func (w wrapping) Error() string { return "wrapped" }
func (w wrapping) Unwrap() error { return w.err }

func loop(text string) *node {
	n := &node{text: text}
	n.next, n.loops = &node{next: n}, n
	return n
}

func chain(n int) *node {
	var first *node
	for range n {
		first = &node{next: first}
	}
	return first
}

func TestError(t *testing.T) {
	plain := errors.New("connection reset")
	request := httptest.NewRequest("GET", "https://pay.example/x", nil)
	secretURL, err := url.Parse("https://pay.example/y")
	if err != nil {
		t.Fatal(err)
	}
	array := inArray{}
	copy(array.raw[2:], token)
	type deep struct{ any }
	held := &node{text: token} // its first field has the same address
	for _, tt := range []struct {
		name     string
		err      error
		withheld bool
	}{
		{"plain", plain, false},
		{"in the text", fmt.Errorf("cannot send %s", token), true},
		{"in the text, quoted", fmt.Errorf("cannot send %q", url.PathEscape(token)), true},
		{"in small letters", fmt.Errorf("cannot send %s", strings.ToLower(url.QueryEscape(token))), true},
		{"escaped twice", fmt.Errorf("cannot send %s", url.QueryEscape(url.QueryEscape(token))), true},
		{"in JSON", errors.New(`{"path":"tk\/9f8e+7d6c5b4a=x"}`), true},
		{"by a method of a type", inText{}, true},
		{"by the verb %+v alone", inPlus{}, true},
		{"by the verb %#v alone", inGo{}, true},
		{"wrapped", fmt.Errorf("retry: %w", inText{}), true},
		{"wrapped and not said", wrapping{wrapping{inGo{}}}, true},
		{"wrapped and harmless", wrapping{wrapping{plain}}, false},
		{"joined", errors.Join(plain, fmt.Errorf("two: %w, %w", plain, inGo{})), true},
		{"joined and harmless", errors.Join(plain, io.EOF), false},
		{"several, of which one is nil", several{plain, nil}, false},
		{"several, of which one shows", several{nil, wrapping{inText{}}}, true},

		{"in a field", inField{token}, true},
		{"in a field behind a pointer", behind(token), true},
		{"in a field as bytes", behind([]byte(token)), true},
		{"in a field as bytes of a type", behind(named(token)), true},
		{"in a field, escaped", behind([]byte(url.QueryEscape(token))), true},
		{"in an array", behind(array), true},
		{"in a list", behind([]string{"a", token}), true},
		{"in a list of lists", behind([][]any{{1, true}, {token}}), true},
		{"in a map's value", behind(map[int]string{1: token}), true},
		{"in a map's name", behind(map[string]int{token: 1}), true},
		{"behind a pointer", behind(new(new(deep{any: token}))), true},
		{"behind pointers", inPointer{&node{next: &node{text: token}}}, true},
		{"in a loop of pointers", inPointer{loop(token)}, true},
		{"behind a pointer to where another one points", behind([]any{&held.next, held}), true},
		{"a loop of pointers", inPointer{loop("harmless")}, false},
		{"harmless fields", behind([]any{1, 2.5, true, "text", nil, []byte("text"), map[string]any{"a": 1i}, func() {}, make(chan int), uintptr(1)}), false},
		{
			"long lists of numbers",
			behind([]any{make([]int, 5000), make([]float64, 5000), make([]bool, 5000), make([]uint16, 5000), make([]byte, 5000), [5000]int8{}}), false,
		},
		{"a long chain", inPointer{chain(100)}, false},
		{"too long a chain", inPointer{chain(2000)}, true},
		{
			"a list of as many values as are looked at", behind(make([]string, 2000-5)), false,
		}, // beside it: the error, its field, the pointer, what that leads to, the list
		{"a list of one more", behind(make([]string, 2000-4)), true},

		{"with a request", behind(request), true},
		{"with a request by value", behind(*request), true},
		{"with a URL", behind(secretURL), true},
		{"with a URL by value", behind(*secretURL), true},
		{"with a header", behind(http.Header{"Accept": {"x"}}), true},
		{"with a response", behind(&http.Response{StatusCode: 200}), true},
		{"with no request", behind((*http.Request)(nil)), false},
		{"with an empty request", behind(struct {
			http.Request
			http.Response
			url.URL
			http.Header
		}{}), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := secretsOf(token).Error(tt.err)
			text := fmt.Sprintf("%v %+v %#v", got, got, got)
			if strings.Contains(text, token) || tt.withheld != strings.Contains(got.Error(), "withheld because it held a secret") {
				t.Errorf("withheld: want %t, got %s", tt.withheld, text)
			}
			if want := fmt.Sprintf("an error of type %T, ", tt.err); tt.withheld && !strings.HasPrefix(got.Error(), want) {
				t.Errorf("got %q, want it to begin with %q", got, want)
			}
			if !tt.withheld && !same(got, tt.err) {
				t.Errorf("a harmless error is replaced: got %#v", got)
			}
		})
	}
	if err := secretsOf(token).Error(nil); err != nil {
		t.Errorf("nil: got %v", err)
	}
}

// same reports whether two errors are identical; some here are not comparable.
func same(a, b error) bool { return fmt.Sprintf("%T%p%v", a, a, a) == fmt.Sprintf("%T%p%v", b, b, b) }

// TestURLErrors: a url.Error prints the URL and is unwrapped, however deeply it is wrapped, whether there are secrets or
// not.
func TestURLErrors(t *testing.T) {
	reset := errors.New("connection reset")
	at := func(err error) error { return &url.Error{Op: "Post", URL: "https://pay.example/base", Err: err} }
	for _, tt := range []struct {
		name string
		err  error
		want error
	}{
		{"one", at(reset), reset},
		{"one in another", at(at(reset)), reset},
		{"wrapped", fmt.Errorf("tracing: %w", at(reset)), reset},
		{"joined", errors.Join(io.EOF, at(reset)), reset},
		{"around a wrapped one", at(fmt.Errorf("proxy: %w", at(io.EOF))), io.EOF},
		{"of nothing", at(nil), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range []redact.Secrets{nil, secretsOf(token)} {
				if got := s.Error(tt.err); got != tt.want {
					t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
				}
			}
		})
	}
	if got := secretsOf(token).Error(at(inText{})); strings.Contains(fmt.Sprintf("%#v", got), token) || !strings.Contains(got.Error(), "inText") {
		t.Errorf("around a secret: got %v", got)
	}
}

// TestStandardCauses: a withheld error still matches the standard errors that callers test for with errors.Is.
func TestStandardCauses(t *testing.T) {
	standard := []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF}
	for _, cause := range append(standard, net.ErrClosed, os.ErrNotExist, errors.New("other")) {
		got := secretsOf(token).Error(fmt.Errorf("%s: %w", token, cause))
		if !strings.Contains(got.Error(), "withheld") {
			t.Fatalf("%v: got %v", cause, got)
		}
		for _, is := range standard {
			if errors.Is(got, is) != (is == cause) {
				t.Errorf("%v: errors.Is(%v): got %t", cause, is, errors.Is(got, is))
			}
		}
	}
}

// TestCertificateErrors: they stay readable, because a certificate is public, and the user needs to know what is wrong with
// it.
func TestCertificateErrors(t *testing.T) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	certificate := s.Certificate()
	large := &x509.Certificate{DNSNames: make([]string, 5000), Raw: certificate.Raw} // of a host with many names
	for name, err := range map[string]error{
		"many names":        &tls.CertificateVerificationError{UnverifiedCertificates: []*x509.Certificate{large}, Err: x509.UnknownAuthorityError{Cert: large}},
		"unknown authority": x509.UnknownAuthorityError{Cert: certificate},
		"verification": &tls.CertificateVerificationError{
			UnverifiedCertificates: []*x509.Certificate{certificate}, Err: x509.UnknownAuthorityError{Cert: certificate},
		},
		"wrong host":     x509.HostnameError{Certificate: certificate, Host: "pay.example"},
		"expired":        x509.CertificateInvalidError{Cert: certificate, Reason: x509.Expired, Detail: time.Now().String()},
		"in a url.Error": &url.Error{Op: "Post", URL: "https://pay.example", Err: x509.HostnameError{Certificate: certificate, Host: "pay.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := secretsOf(token).Error(err)
			if !strings.Contains(got.Error(), "certificate") || strings.Contains(got.Error(), "withheld") {
				t.Errorf("%s: got %v", name, got)
			}
		})
	}
	with := x509.HostnameError{Certificate: certificate, Host: token}
	if got := secretsOf(token).Error(with); strings.Contains(fmt.Sprintf("%#v", got), token) {
		t.Errorf("a secret beside a certificate: got %v", got)
	}
}

// TestReadError: net/http quotes what it could not read, which may contain any card number.
func TestReadError(t *testing.T) {
	for _, tt := range []struct {
		text     string
		withheld bool
	}{
		{"malformed HTTP response", false},
		{`malformed HTTP response "card 4539000000000001 refused"`, true},
		{`malformed HTTP response "4539 0000 0000 0001"`, true},
		{"request 123456789012", false},
		{"malformed " + token, true},
	} {
		t.Run(tt.text, func(t *testing.T) {
			err := fmt.Errorf("%s: %w", tt.text, io.ErrUnexpectedEOF)
			got := secretsOf(token).ReadError(err)
			if strings.Contains(got.Error(), "withheld") != tt.withheld || !errors.Is(got, io.ErrUnexpectedEOF) {
				t.Errorf("%s: withheld: want %t, got %v", tt.text, tt.withheld, got)
			}
			if tt.withheld && strings.Contains(got.Error(), "4539") {
				t.Errorf("%s: got %v", tt.text, got)
			}
		})
	}
	if err := secretsOf(token).ReadError(nil); err != nil {
		t.Errorf("nil: got %v", err)
	}
	if err := secretsOf(token).ReadError(&url.Error{Op: "Get", URL: "https://pay.example"}); err != nil {
		t.Errorf("a url.Error of nothing: got %v", err)
	}
}

// TestDigitsInErrors: an error of a hook may contain digits; only errors of reading a response are withheld for a card
// number.
func TestDigitsInErrors(t *testing.T) {
	err := errors.New("vault sealed, request 1700000000000")
	if got := secretsOf(token).Error(err); got != err {
		t.Errorf("got %v", got)
	}
}
