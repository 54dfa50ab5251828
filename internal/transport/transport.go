package transport

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// New returns a sender for payments and one for queries. Payments do not use connections that have been idle for longer
// than idleTimeout; negative means a new connection for each.
//
// A given *http.Transport is cloned and hardened; nil means a new one. If it makes TLS connections itself, each query has a new
// one, because what those have received before a request cannot be seen. Any other RoundTripper is used as it is: for such a one
// it can be enforced neither that a payment is sent once, nor that a response came after its request.
func New(given http.RoundTripper, idleTimeout time.Duration) (payments, queries *Sender) {
	base, ok := given.(*http.Transport)
	if given != nil && !ok {
		foreign := &Sender{given.RoundTrip, func() {}}
		return foreign, foreign
	}
	if base == nil {
		base = newTransport()
	}
	forPayments := harden(base)
	if own := base.IdleConnTimeout; own <= 0 || own > idleTimeout {
		forPayments.IdleConnTimeout = idleTimeout
	}
	forPayments.DisableKeepAlives = forPayments.DisableKeepAlives || idleTimeout < 0
	forQueries := harden(base)
	forQueries.DisableKeepAlives = forQueries.DisableKeepAlives || dialsTLS(base)
	return &Sender{forPayments.RoundTrip, forPayments.CloseIdleConnections},
		&Sender{forQueries.RoundTrip, forQueries.CloseIdleConnections}
}

// SkipsVerification reports whether a RoundTripper is known not to verify certificates.
func SkipsVerification(given http.RoundTripper) bool {
	t, ok := given.(*http.Transport)
	return ok && t != nil && t.TLSClientConfig != nil && t.TLSClientConfig.InsecureSkipVerify
}

// newTransport returns the default transport. Unlike http.DefaultTransport it uses no proxy from the environment: a proxy
// for plain http would see complete bodies.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
	}
}

// connectionsPerHost is how many idle connections are kept: as many as a busy shop has concurrent calls. With net/http's
// default of two, 64 callers over TLS are many times slower.
const connectionsPerHost = 128

// harden returns a copy of t that keeps the guarantees of a payment. It uses HTTP/1.1 only: over HTTP/2 net/http sends a
// request again by itself when the server resets the stream, and GODEBUG=http2debug=2 prints headers and bodies.
func harden(t *http.Transport) *http.Transport {
	h := t.Clone()
	h.DisableCompression = true // a compressed response could be a decompression bomb
	if h.MaxResponseHeaderBytes <= 0 || h.MaxResponseHeaderBytes > maxHeader {
		h.MaxResponseHeaderBytes = maxHeader
	}
	if h.MaxIdleConnsPerHost == 0 {
		h.MaxIdleConnsPerHost = connectionsPerHost
	}
	if h.MaxIdleConns != 0 && h.MaxIdleConns < h.MaxIdleConnsPerHost {
		h.MaxIdleConns = h.MaxIdleConnsPerHost
	}
	h.WriteBufferSize = max(h.WriteBufferSize, maxHeldHead) // a head that is written in pieces cannot be held back
	if h.ExpectContinueTimeout == 0 {
		h.ExpectContinueTimeout = time.Second
	}
	if h.TLSClientConfig == nil {
		h.TLSClientConfig = new(tls.Config)
	}
	h.TLSClientConfig.MinVersion = max(h.TLSClientConfig.MinVersion, tls.VersionTLS12)
	h.TLSClientConfig.NextProtos = []string{"http/1.1"}
	h.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	h.ForceAttemptHTTP2 = false
	h.Protocols = new(http.Protocols)
	h.Protocols.SetHTTP1(true)
	holdHeads(h)
	return h
}
