package redact_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// Errors that hold a secret, or a request.
type (
	inText  struct{}
	inPlus  struct{}
	inGo    struct{}
	inField struct{ Hidden any }
	panics  struct{ text *string }
)

func (inText) Error() string    { return "sent " + token }
func (inPlus) Error() string    { return "failed" }
func (inGo) Error() string      { return "failed" }
func (inGo) GoString() string   { return token }
func (inField) Error() string   { return "failed" }
func (p *panics) Error() string { return *p.text }

func (inPlus) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, token) }

// wrapping does not say what it wraps.
type wrapping struct{ err error }

func (w wrapping) Error() string { return "wrapped" }
func (w wrapping) Unwrap() error { return w.err }

// printed is what any printer finds of an error: fmt with its verbs, gob, JSON, a logger, and a printer that follows pointers.
func printed(t *testing.T, err error) string {
	t.Helper()
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&b, verb+"\n", err)
		fmt.Fprintf(&b, verb+"\n", struct{ hidden error }{err})
	}
	_ = gob.NewEncoder(&b).Encode(err)
	_ = json.NewEncoder(&b).Encode(err)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("failed", "err", err)
	b.WriteString(clienttest.DeepPrint(err, false) + clienttest.DeepPrint(err, true))
	for wrapped := errors.Unwrap(err); wrapped != nil; wrapped = errors.Unwrap(wrapped) {
		t.Errorf("it wraps %#v", wrapped)
	}
	return b.String()
}

// TestError: of an error, only its text is kept, or its type if there is a secret in the text. errors.Is still finds the original.
func TestError(t *testing.T) {
	plain := errors.New("connection reset")
	request := httptest.NewRequest("GET", "https://pay.example/"+url.PathEscape(token), nil)
	request.Header.Set("X-Key", token)
	for _, tt := range []struct {
		name     string
		err      error
		text     string
		withheld bool
	}{
		{"plain", plain, "connection reset", false},
		{"in the text", fmt.Errorf("cannot send %s: %w", token, plain), "", true},
		{"in the text, quoted", fmt.Errorf("cannot send %q", url.PathEscape(token)), "", true},
		{"in small letters", fmt.Errorf("cannot send %s", strings.ToLower(url.QueryEscape(token))), "", true},
		{"of a proxy", errors.New(`invalid proxy address "http://shop:hunter%2@proxy:3128": parse: invalid URL escape "%2@"`), "", true},
		{"of a proxy without a scheme", errors.New(`invalid proxy address "shop:hunter 2@proxy:3128"`), "", true},
		{"of a proxy, as its port", errors.New(`invalid port ":hunter2" after host`), "", true},
		{"in JSON", errors.New(`{"path":"tk\/9f8e+7d6c5b4a=x"}`), "", true},
		{"by a method of a type", inText{}, "", true},
		{"wrapped", fmt.Errorf("retry: %w", inText{}), "", true},
		{"joined", errors.Join(plain, inText{}), "", true},
		{"by another verb", inPlus{}, "failed", false},
		{"by the verb %#v", inGo{}, "failed", false},
		{"wrapped and not said", wrapping{wrapping{inText{}}}, "wrapped", false},
		{"joined and not said", errors.Join(plain, inGo{}), "connection reset\nfailed", false},
		{"in a field", inField{token}, "failed", false},
		{"in a request", inField{request}, "failed", false},
		{"in a function", inField{func() string { return token }}, "failed", false},
		{"digits, which only a response is not trusted with", errors.New("vault sealed, request 1700000000000"), "vault sealed, request 1700000000000", false},
		{"a panic", new(panics), "%!v(PANIC=Error method: runtime error: invalid memory address or nil pointer dereference)", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := secretsOf(token).Error(tt.err, none)
			want := tt.text
			if tt.withheld {
				want = fmt.Sprintf("an error of type %T, whose text is withheld because it held a secret", tt.err)
			}
			if got.Error() != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if all := printed(t, got); strings.Contains(all, token) || strings.Contains(all, url.PathEscape(token)) || strings.Contains(all, "pay.example") {
				t.Errorf("%s: a printer finds the secret: %s", tt.name, all)
			}
			if f, ok := errors.AsType[inField](got); ok {
				t.Errorf("errors.As finds %#v", f)
			}
		})
	}
	if err := secretsOf(token).Error(nil, none); err != nil {
		t.Errorf("nil: got %v", err)
	}
}

// TestURLErrors: a url.Error prints the URL and is unwrapped, however deeply it is wrapped, whether there are secrets or
// not.
func TestURLErrors(t *testing.T) {
	reset := errors.New("connection reset")
	at := func(err error) error { return &url.Error{Op: "Post", URL: "https://pay.example/base", Err: err} }
	bare := at(nil)
	for _, tt := range []struct {
		name string
		err  error
		text string
		is   []error
	}{
		{"one", at(reset), "connection reset", []error{reset}},
		{"one in another", at(at(reset)), "connection reset", []error{reset}},
		{"wrapped", fmt.Errorf("tracing: %w", at(reset)), "connection reset", []error{reset}},
		{"joined", errors.Join(io.EOF, at(reset)), "connection reset", []error{reset, io.EOF}},
		{"around a wrapped one", at(fmt.Errorf("proxy: %w", at(io.EOF))), "EOF", []error{io.EOF}},
		{"of nothing", bare, "an error of type *url.Error without a cause", []error{bare}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range []redact.Secrets{nil, secretsOf(token)} {
				got := s.Error(tt.err, none)
				if got == nil || got.Error() != tt.text {
					t.Fatalf("%s: got %v, want %s", tt.name, got, tt.text)
				}
				for _, is := range tt.is {
					if !errors.Is(got, is) {
						t.Errorf("%s: %v does not match %T", tt.name, got, is)
					}
				}
			}
		})
	}
	if got := secretsOf(token).Error(at(inText{}), none); strings.Contains(printed(t, got), token) || !strings.Contains(got.Error(), "inText") {
		t.Errorf("around a secret: got %v", got)
	}
}

// TestCauses: what callers act on is still found, also of an error whose text is withheld: what it matches, and that it is a timeout.
func TestCauses(t *testing.T) {
	late := &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	causes := []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, os.ErrNotExist, late, errors.New("own")}
	for _, text := range []string{"harmless", token} {
		for _, cause := range causes {
			got := secretsOf(token).Error(fmt.Errorf("%s: %w", text, cause), none)
			if strings.Contains(got.Error(), "withheld") != (text == token) {
				t.Fatalf("%v: got %v", cause, got)
			}
			for _, is := range causes {
				if errors.Is(got, is) != (is == cause) {
					t.Errorf("%v: errors.Is(%v): got %t", cause, is, errors.Is(got, is))
				}
			}
			timeout, ok := errors.AsType[interface {
				error
				Timeout() bool
			}](fmt.Errorf("outer: %w", got))
			if want := cause == context.DeadlineExceeded || cause == late; !ok || timeout.Timeout() != want {
				t.Errorf("%v: a timeout: want %t", cause, want)
			}
		}
	}
}

// none says that no error is the outcome of a call.
func none(error) bool { return false }

// TestReadError: net/http quotes what it could not read, which may contain any card number.
func TestReadError(t *testing.T) {
	for _, tt := range []struct {
		text     string
		withheld bool
	}{
		{"malformed HTTP response", false},
		{`malformed HTTP response "card 4539000000000001 refused"`, true},
		{`malformed HTTP response "4539 0000 0000 0001"`, true},
		{`malformed HTTP response "{\"cvv\":\"973\"}"`, true},
		{"request 123456789012", false},
		{"malformed " + token, true},
	} {
		t.Run(tt.text, func(t *testing.T) {
			err := fmt.Errorf("%s: %w", tt.text, io.ErrUnexpectedEOF)
			got := secretsOf(token).ReadError(err, none)
			if strings.Contains(got.Error(), "withheld") != tt.withheld || !errors.Is(got, io.ErrUnexpectedEOF) {
				t.Errorf("%s: withheld: want %t, got %v", tt.text, tt.withheld, got)
			}
			if tt.withheld && strings.Contains(got.Error(), "4539") {
				t.Errorf("%s: got %v", tt.text, got)
			}
		})
	}
	if err := secretsOf(token).ReadError(nil, none); err != nil {
		t.Errorf("nil: got %v", err)
	}
}
