package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Limits of what is read of a response.
const (
	MaxPayment = 1 << 20  // bytes of the response to a payment
	MaxQuery   = 8 << 20  // bytes of the response to a query: a page of 999 rows has some 650 kB
	maxHeader  = 64 << 10 // bytes of all headers

	maxEmptyReads = 100 // one after another, that return neither data nor an error
)

// ErrTooLarge says that a response is longer than its limit.
var ErrTooLarge = errors.New("the response is too large")

var (
	errSwitched   = errors.New("the response switches protocols")
	errCompressed = errors.New("the response is compressed, which was not asked for")
)

// Buffer is memory for the body of a response, which bodies use one after another: a page is large, and decoded values do
// not point into it.
type Buffer struct{ data *[]byte }

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Release returns the memory. The last body must not be used any more.
func (b *Buffer) Release() {
	if b.data != nil {
		buffers.Put(b.data)
		b.data = nil
	}
}

// readBody reads the body of a response. A body beyond the limit is an error; it is never silently truncated.
func readBody(ctx context.Context, resp *http.Response, limit int64, buffer *Buffer) ([]byte, error) {
	if resp.Body == nil { // as net/http's client allows a RoundTripper
		return nil, nil
	}
	defer func() { _ = resp.Body.Close() }()              // everything needed has been read
	if resp.StatusCode == http.StatusSwitchingProtocols { // its body is the raw connection, for which no timeout applies
		return nil, errSwitched
	}
	if resp.ContentLength > limit {
		return nil, ErrTooLarge
	}
	if buffer.data == nil {
		buffer.data = buffers.Get().(*[]byte)
	}
	body, err := readBounded(ctx, *buffer.data, resp.Body, resp.ContentLength, limit)
	if err != nil {
		return nil, err
	}
	if int64(len(body)) < resp.ContentLength { // net/http has noticed it, a RoundTripper of the caller may not have
		return nil, io.ErrUnexpectedEOF
	}
	if isEncoded(resp.Header) && !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) { // some servers name a charset there
		return nil, errCompressed
	}
	*buffer.data = body
	return body, nil
}

// isEncoded reports whether a body has a content encoding, in whatever spelling and in whichever of several headers.
func isEncoded(header http.Header) bool {
	for name, values := range header { // a RoundTripper of the caller may not have canonical names
		if len(name) != len("Content-Encoding") || !strings.EqualFold(name, "Content-Encoding") {
			continue
		}
		for encoding := range strings.SplitSeq(strings.Join(values, ","), ",") {
			if encoding = strings.TrimSpace(encoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
				return true
			}
		}
	}
	return false
}

// readBounded reads into data, replacing its contents, or into new memory if it is too small. A body of the caller's RoundTripper may
// not end with ctx: what is there by then is read, in as many reads as may be empty.
func readBounded(ctx context.Context, data []byte, body io.Reader, announced, limit int64) ([]byte, error) {
	const unannounced = 4096
	size := announced
	if size < 0 {
		size = unannounced
	}
	data = slices.Grow(data[:0], int(size)+1) // one more byte, for the read that returns io.EOF
	for empty := 0; empty < maxEmptyReads; {
		n, err := body.Read(data[len(data):cap(data)])
		if empty++; n > 0 && ctx.Err() == nil {
			empty = 0
		}
		data = data[:len(data)+n]
		if int64(len(data)) > limit {
			return nil, ErrTooLarge
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
	}
	return nil, cmp.Or(ctx.Err(), io.ErrNoProgress)
}
