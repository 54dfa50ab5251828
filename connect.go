package cardgateway

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// connect prepares the transports: one for payments, which does not use connections that have been idle for long,
// and one for queries.
func (c *Client) connect(p *problems) {
	var given http.RoundTripper
	if c.cfg.HTTPClient != nil {
		given = c.cfg.HTTPClient.Transport
	}
	plain, ok := given.(*http.Transport)
	if given != nil && !ok {
		c.payments, c.queries, c.closeIdle = given.RoundTrip, given.RoundTrip, func() {}
		return
	}
	if plain == nil {
		plain = newTransport()
	}
	if tlsConfig := plain.TLSClientConfig; tlsConfig != nil && tlsConfig.InsecureSkipVerify && !c.cfg.InsecureHTTP {
		p.add("HTTPClient", RuleFormat, "has a transport that does not verify certificates")
	}
	payments := harden(plain)
	if own := plain.IdleConnTimeout; own <= 0 || own > c.cfg.PaymentIdleTimeout {
		payments.IdleConnTimeout = c.cfg.PaymentIdleTimeout
	}
	payments.DisableKeepAlives = payments.DisableKeepAlives || c.cfg.PaymentIdleTimeout < 0
	sendWhole(payments)
	queries := harden(plain)
	// Method values and not the transports: a deep printer that is given a Client would find the head of the last
	// request in a connection's buffer, with the token in its path.
	c.payments, c.queries = payments.RoundTrip, queries.RoundTrip
	c.closeIdle = func() {
		payments.CloseIdleConnections()
		queries.CloseIdleConnections()
	}
}

// CloseIdleConnections closes the connections that no call is using, for a program that ends or a test that looks for
// leaks. The client can still be used. It does nothing where Config.HTTPClient has a RoundTripper of another type.
func (c *Client) CloseIdleConnections() { c.closeIdle() }

// newTransport returns what is used where the caller gives no transport. Unlike http.DefaultTransport it takes no
// proxy from the environment: a proxy for plain http would see whole bodies.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
	}
}

// connectionsPerHost is how many idle connections are kept: as many as a busy shop has calls at once. With the two
// that net/http keeps by default, 64 callers over TLS are many times slower.
const connectionsPerHost = 128

// harden returns a copy of t that keeps the promises of a payment. HTTP/1.1 only: over HTTP/2 net/http sends a
// request again by itself when the server resets the stream, and GODEBUG=http2debug=2 prints headers and bodies.
func harden(t *http.Transport) *http.Transport {
	h := t.Clone()
	h.DisableCompression = true // a compressed answer could be a bomb
	if h.MaxResponseHeaderBytes <= 0 || h.MaxResponseHeaderBytes > maxAnswerHeader {
		h.MaxResponseHeaderBytes = maxAnswerHeader
	}
	if h.MaxIdleConnsPerHost == 0 {
		h.MaxIdleConnsPerHost = connectionsPerHost
	}
	if h.MaxIdleConns != 0 && h.MaxIdleConns < h.MaxIdleConnsPerHost {
		h.MaxIdleConns = h.MaxIdleConnsPerHost
	}
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
	return h
}
