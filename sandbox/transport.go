package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// memoryTransport is the transport of RoundTripper.
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
