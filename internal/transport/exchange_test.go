package transport

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// tracked is a body of a response that records how it was used.
type tracked struct {
	io.Reader
	read   int
	closed bool
}

func (b *tracked) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += n
	return n, err
}

func (b *tracked) Close() error { b.closed = true; return nil }

// byByte returns a byte at a time, and io.EOF with the last one.
func byByte(text string) io.Reader {
	return iotest.OneByteReader(iotest.DataErrReader(strings.NewReader(text)))
}

// slow reads after so many reads that return nothing.
type slow struct {
	io.Reader
	pauses, paused int
}

func (r *slow) Read(p []byte) (int, error) {
	if r.paused++; r.paused <= r.pauses {
		return 0, nil
	}
	r.paused = 0
	return r.Reader.Read(p)
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

func TestExchangeReads(t *testing.T) {
	broken := errors.New("connection reset")
	x := strings.Repeat
	for _, tt := range []struct {
		name      string
		status    int
		encoding  string
		announced int64
		body      io.Reader
		limit     int64
		want      string
		err       error
		unread    bool // nothing of the body is read
	}{
		{name: "short", status: 200, announced: 4, body: strings.NewReader("text"), limit: 10, want: "text"},
		{name: "empty", status: 200, announced: 0, body: strings.NewReader(""), limit: 10},
		{name: "at the limit", status: 200, announced: 10, body: strings.NewReader(x("x", 10)), limit: 10, want: x("x", 10)},
		{name: "at the limit, not announced", status: 200, announced: -1, body: strings.NewReader(x("x", 10)), limit: 10, want: x("x", 10)},
		{name: "over the limit", status: 200, announced: 11, body: strings.NewReader(x("x", 11)), limit: 10, err: ErrTooLarge, unread: true},
		{name: "over the limit, not announced", status: 200, announced: -1, body: strings.NewReader(x("x", 11)), limit: 10, err: ErrTooLarge},
		{name: "over the limit, announced as less", status: 200, announced: 3, body: strings.NewReader(x("x", 11)), limit: 10, err: ErrTooLarge},
		{name: "longer than announced", status: 200, announced: 3, body: strings.NewReader("text"), limit: 10, want: "text"},
		{name: "shorter than announced", status: 403, announced: 5, body: strings.NewReader("text"), limit: 10, err: io.ErrUnexpectedEOF},
		{name: "large, not announced", status: 200, announced: -1, body: strings.NewReader(x("x", 100_000)), limit: 100_000, want: x("x", 100_000)},
		{name: "large, not announced, over the limit", status: 200, announced: -1, body: strings.NewReader(x("x", 100_001)), limit: 100_000, err: ErrTooLarge},
		{name: "byte by byte", status: 200, announced: -1, body: byByte(x("x", 5000)), limit: 5000, want: x("x", 5000)},
		{name: "byte by byte, announced", status: 200, announced: 3, body: byByte("abc"), limit: 3, want: "abc"},
		{name: "byte by byte, over the limit", status: 200, announced: -1, body: byByte("abcd"), limit: 3, err: ErrTooLarge},
		{name: "after as many empty reads as are allowed, twice", status: 200, announced: -1, body: &slow{Reader: byByte("ab"), pauses: maxEmptyReads - 1}, limit: 10, want: "ab"},
		{name: "after one empty read more", status: 200, announced: -1, body: &slow{Reader: byByte("ab"), pauses: maxEmptyReads}, limit: 10, err: io.ErrNoProgress, unread: true},
		{name: "broken", status: 200, announced: 10, body: io.MultiReader(strings.NewReader("te"), iotest.ErrReader(broken)), limit: 10, err: broken},
		{name: "cut", status: 200, announced: 10, body: io.MultiReader(strings.NewReader("te"), iotest.ErrReader(io.ErrUnexpectedEOF)), limit: 10, err: io.ErrUnexpectedEOF},
		{name: "an error status", status: 503, announced: 4, body: strings.NewReader("text"), limit: 10, want: "text"},
		{name: "compressed", status: 200, encoding: "gzip", announced: -1, body: strings.NewReader(gzipped("text")), limit: 100, err: errCompressed},
		{name: "compressed in another way", status: 404, encoding: "br", announced: 1, body: strings.NewReader("x"), limit: 100, err: errCompressed},
		{name: "an object with a charset as its encoding", status: 200, encoding: "UTF-8", announced: 2, body: strings.NewReader("{}"), limit: 10, want: "{}"},
		{name: "identity", status: 200, encoding: "Identity", announced: 4, body: strings.NewReader("text"), limit: 10, want: "text"},
		{name: "switches protocols", status: 101, announced: -1, body: strings.NewReader("text"), limit: 10, err: errSwitched, unread: true},
		{name: "none", status: 200, announced: 4, limit: 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := &tracked{Reader: tt.body}
			payments, _ := New(roundTrip(func(*http.Request) (*http.Response, error) {
				resp := &http.Response{StatusCode: tt.status, Header: http.Header{"X": {"y"}}, ContentLength: tt.announced}
				if tt.encoding != "" {
					resp.Header.Set("Content-Encoding", tt.encoding)
				}
				if tt.body != nil {
					resp.Body = body
				}
				return resp, nil
			}), 0)
			for range 2 { // the second with reused memory
				body.Reader = tt.body
				var buffer Buffer
				r := payments.Do(NewExchange(t.Context(), "GET", endpoint, nil), tt.limit, &buffer)
				if !errors.Is(r.Err, tt.err) || string(r.Body) != tt.want {
					t.Errorf("got %.20q, %v, want %.20q, %v", r.Body, r.Err, tt.want, tt.err)
				}
				if r.Status != tt.status || r.Header.Get("X") != "y" {
					t.Errorf("got HTTP %d with %v, want %d", r.Status, r.Header, tt.status)
				}
				if tt.body != nil && (!body.closed || tt.unread != (body.read == 0) && tt.want != "") {
					t.Errorf("the body: closed %t, %d bytes were read", body.closed, body.read)
				}
				if tt.unread && body.read != 0 {
					t.Errorf("%d bytes were read, want none", body.read)
				}
				buffer.Release()
				buffer.Release() // is empty
				if s, ok := tt.body.(*strings.Reader); ok {
					_, _ = s.Seek(0, io.SeekStart)
				} else {
					break
				}
			}
		})
	}
}

// TestEncodings: a body with a content encoding is not believed, however the headers say so.
func TestEncodings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		header http.Header
		want   bool
	}{
		{"none", http.Header{"Content-Type": {"gzip"}}, false},
		{"empty", http.Header{"Content-Encoding": {""}}, false},
		{"identity", http.Header{"Content-Encoding": {" IDENTITY ", "identity,identity,"}}, false},
		{"gzip", http.Header{"Content-Encoding": {"gzip"}}, true},
		{"in capitals", http.Header{"Content-Encoding": {"GZIP"}}, true},
		{"an unknown one", http.Header{"Content-Encoding": {"x"}}, true},
		{"in a list", http.Header{"Content-Encoding": {"identity, br"}}, true},
		{"in a second header", http.Header{"Content-Encoding": {"identity", "deflate"}}, true},
		{"in a header without a canonical name", http.Header{"content-encoding": {"zstd"}}, true},
		{"in both", http.Header{"Content-Encoding": {"identity"}, "CONTENT-ENCODING": {"gzip"}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := &http.Response{StatusCode: 403, Header: tt.header, Body: io.NopCloser(strings.NewReader("x"))}
			if _, err := readBody(t.Context(), resp, 10, new(Buffer)); errors.Is(err, errCompressed) != tt.want {
				t.Errorf("%s: got %v", tt.name, err)
			}
		})
	}
}

// TestBoundedMemory: with new memory, little more is read than the limit, whatever is announced.
func TestBoundedMemory(t *testing.T) {
	for _, announced := range []int64{-1, 0, 10, 100} {
		body := &tracked{Reader: strings.NewReader(strings.Repeat("x", 1<<20))}
		if _, err := readBounded(t.Context(), nil, body, announced, 1000); !errors.Is(err, ErrTooLarge) || body.read > 2*4096 {
			t.Errorf("announced %d: got %v after %d bytes", announced, err, body.read)
		}
	}
}

// endless is a body that has one more byte whenever it is read.
type endless struct{ read func() }

func (e endless) Read(p []byte) (int, error) {
	e.read()
	return copy(p, " "), nil
}

// TestBodyEndsWithContext: a body that goes on ends with the attempt, also if the caller's RoundTripper does not know it. One that is there
// is read.
func TestBodyEndsWithContext(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes int64
		reads int
		want  error
	}{
		{"goes on", 1000, 2 + maxEmptyReads, context.Canceled},
		{"is there", 50, 50, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			reads := 0
			payments, _ := New(roundTrip(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, ContentLength: -1, Body: io.NopCloser(io.LimitReader(endless{func() {
					if reads++; reads == 3 {
						cancel()
					}
				}}, tt.bytes))}, nil
			}), 0)
			r := payments.Do(NewExchange(ctx, "GET", endpoint, nil), 1000, new(Buffer))
			if !errors.Is(r.Err, tt.want) || reads != tt.reads {
				t.Errorf("got %v after %d reads, want %v after %d", r.Err, reads, tt.want, tt.reads)
			}
		})
	}
}

// TestExchangeSends: a request is sent once, whatever a hook has set, and reads of its body are reported.
func TestExchangeSends(t *testing.T) {
	failed := errors.New("connection reset")
	whole := func(r *http.Request) (string, error) {
		if r.Body == nil {
			return "", nil
		}
		data, err := io.ReadAll(r.Body)
		return string(data), err
	}
	for _, tt := range []struct {
		name    string
		payload []byte
		trip    func(r *http.Request) (*http.Response, error)
		want    Response
	}{
		{"unread, failed", []byte("{}"), func(*http.Request) (*http.Response, error) { return nil, failed }, Response{Unsent: true, Err: failed}},
		{"one byte read, failed", []byte("{}"), func(r *http.Request) (*http.Response, error) {
			_, _ = r.Body.Read(make([]byte, 1))
			return nil, failed
		}, Response{Err: failed}},
		{"read by no byte, failed", []byte("{}"), func(r *http.Request) (*http.Response, error) {
			_, _ = r.Body.Read(nil)
			return nil, failed
		}, Response{Err: failed}},
		{"an empty body, read", []byte{}, func(r *http.Request) (*http.Response, error) {
			_, err := whole(r)
			return nil, errors.Join(err, failed)
		}, Response{Err: failed}},
		{"closed, failed", []byte("{}"), func(r *http.Request) (*http.Response, error) {
			return nil, errors.Join(r.Body.Close(), failed)
		}, Response{Unsent: true, Err: failed}},
		{
			"neither a response nor an error", []byte("{}"), func(*http.Request) (*http.Response, error) { return nil, nil },
			Response{Unsent: true, Err: errNoResponse},
		},
		{"a response to an unread body", []byte("{}"), func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 503}, nil
		}, Response{Status: 503, Unsent: true}},
		{"a response and an error", []byte("{}"), func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("x"))}, failed
		}, Response{Unsent: true, Err: failed}},
		{"a query", nil, func(r *http.Request) (*http.Response, error) {
			if r.Body != nil || r.ContentLength != 0 {
				t.Errorf("a query has a body of %d bytes", r.ContentLength)
			}
			return &http.Response{StatusCode: 204}, nil
		}, Response{Status: 204, Unsent: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trips := 0
			payments, _ := New(roundTrip(func(r *http.Request) (*http.Response, error) {
				trips++
				if r.GetBody != nil || r.TransferEncoding != nil {
					t.Errorf("the transport could send the request again: %v", r.TransferEncoding)
				}
				if r.ContentLength != int64(len(tt.payload)) {
					t.Errorf("got a length of %d, want %d", r.ContentLength, len(tt.payload))
				}
				return tt.trip(r)
			}), 0)
			x := NewExchange(t.Context(), "POST", endpoint, tt.payload)
			x.Request.Body = io.NopCloser(strings.NewReader("another body"))
			x.Request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("another body")), nil }
			x.Request.TransferEncoding = []string{"chunked"}
			var buffer Buffer
			got := payments.Do(x, 100, &buffer)
			if !errors.Is(got.Err, tt.want.Err) || (got.Err == nil) != (tt.want.Err == nil) {
				t.Errorf("got error %v, want %v", got.Err, tt.want.Err)
			}
			got.Err, tt.want.Err = nil, nil
			if diff := cmp.Diff(tt.want, got); diff != "" || trips != 1 {
				t.Errorf("%d trips (-want +got):\n%s", trips, diff)
			}
		})
	}
}

// TestSealedLate: a transport can read nothing of the body after the exchange has ended.
func TestSealedLate(t *testing.T) {
	var kept io.Reader
	payments, _ := New(roundTrip(func(r *http.Request) (*http.Response, error) {
		kept = r.Body
		return nil, io.EOF
	}), 0)
	x := NewExchange(t.Context(), "POST", endpoint, []byte("card data"))
	if r := payments.Do(x, 100, new(Buffer)); !r.Unsent {
		t.Errorf("got %+v, want a proof that nothing was sent", r)
	}
	if data, err := io.ReadAll(kept); len(data) != 0 || !errors.Is(err, errSealed) {
		t.Errorf("afterwards: got %q, %v, want nothing and %v", data, err, errSealed)
	}
}
