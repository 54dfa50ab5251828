package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// The same payments with commonly used alternatives, for comparison.

// peer posts a payment and reads its response like programs without this client: HTTP 200 and the code decide.
type peer struct {
	*site
	name string
	do   func(ctx context.Context, url string, body []byte) (status int, answer []byte, err error)
}

func (p *peer) Name() string { return p.name }

func (p *peer) Make(ctx context.Context, m movement) Verdict {
	path, body := m.wire(p.tokens)
	return m.answered(p.post(ctx, path, body))
}

// post returns the code of the response, or zero if it cannot be read.
func (p *peer) post(ctx context.Context, path string, body []byte) int {
	status, answer, err := p.do(ctx, p.front.URL+path, body)
	var a struct{ Code int }
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &a) != nil {
		return 0
	}
	return a.Code
}

// Finish does nothing: these designs cannot resolve outcomes.
func (p *peer) Finish(context.Context, []movement, []Verdict) {}

// newRetryable posts through go-retryablehttp with its default policy: four retries on every transport error, 429 and 5xx.
// Only its pauses are shorter.
func newRetryable(s *site) (Design, error) {
	c := retryablehttp.NewClient()
	c.Logger = nil
	c.RetryWaitMin, c.RetryWaitMax = 5*time.Millisecond, 50*time.Millisecond
	c.HTTPClient = &http.Client{Transport: s.front.Transport(), Timeout: patience}
	s.callers = append(s.callers, c.HTTPClient)
	return &peer{s, "go-retryablehttp, its defaults", func(ctx context.Context, url string, body []byte) (int, []byte, error) {
		req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, url, body)
		if err != nil {
			return 0, nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		return read(c.Do(req))
	}}, nil
}

// newLoop makes up to three attempts until a response can be read.
func newLoop(s *site) (Design, error) {
	c := &http.Client{Transport: s.front.Transport(), Timeout: patience}
	s.callers = append(s.callers, c)
	return &peer{s, "a plain loop, three tries", func(ctx context.Context, url string, body []byte) (status int, answer []byte, err error) {
		for range 3 {
			var req *http.Request
			req, err = http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
			if err != nil {
				return 0, nil, err
			}
			req.Header.Set("Content-Type", "application/json")
			status, answer, err = read(c.Do(req))
			if err == nil && status == http.StatusOK && json.Valid(answer) {
				break
			}
		}
		return status, answer, err
	}}, nil
}

func read(resp *http.Response, err error) (int, []byte, error) {
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, answer, err
}
