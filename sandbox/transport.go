package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"syscall"
)

// RoundTripper returns an HTTP transport that reaches g without a socket, whatever host the request names. It works inside
// a testing/synctest bubble, where a network connection does not. Faults that drop the connection are returned as errors.
// Like a real gateway, g carries out a request even if its context has ended meanwhile.
func (g *Gateway) RoundTripper() http.RoundTripper { return memoryTransport{g} }

type memoryTransport struct{ gateway *Gateway }

// RoundTrip sends r to the gateway. It reads and closes the body, as http.RoundTripper requires.
func (t memoryTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		closeBody(r)
		return nil, err
	}
	type outcome struct {
		resp *http.Response
		err  error
	}
	done := make(chan outcome, 1) // buffered, so that the goroutine ends if nobody waits
	go func() {
		resp, err := t.exchange(r)
		done <- outcome{resp, err}
	}()
	select {
	case o := <-done:
		return o.resp, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t memoryTransport) exchange(r *http.Request) (*http.Response, error) {
	body, err := sendBody(r)
	if err != nil {
		return nil, err
	}
	if err := r.Context().Err(); err != nil {
		return nil, err // the request has not arrived completely
	}
	in := &http.Request{
		Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header.Clone(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
	if in.Header == nil {
		in.Header = make(http.Header)
	}
	return t.gateway.respond(in).response(r)
}

// sendBody reads and closes the request body.
func sendBody(r *http.Request) ([]byte, error) {
	defer closeBody(r)
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("sandbox: reading the request body: %w", err)
	}
	if r.ContentLength > 0 && int64(len(body)) != r.ContentLength {
		return nil, errors.New("sandbox: the length of the request body differs from Content-Length")
	}
	return body, nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// response converts the reply to what a client's transport returns.
func (r reply) response(req *http.Request) (*http.Response, error) {
	switch r.truncation {
	case truncatedToNothing:
		return nil, io.EOF
	case truncatedByReset:
		return nil, syscall.ECONNRESET
	case truncatedInHeader:
		return nil, io.ErrUnexpectedEOF
	}
	var body io.Reader = bytes.NewReader(r.body)
	if r.truncation == truncatedInBody {
		body = io.MultiReader(bytes.NewReader(r.body[:len(r.body)/2]), cutReader{})
	}
	r.header.Set("Content-Length", strconv.Itoa(len(r.body)))
	return &http.Response{
		Status: strconv.Itoa(r.status) + " " + http.StatusText(r.status), StatusCode: r.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header, Body: io.NopCloser(body), ContentLength: int64(len(r.body)), Request: req,
	}, nil
}

// cutReader follows the half of a body that arrived.
type cutReader struct{}

func (cutReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
