package faults

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// fragile is a listener whose connections break before a request has arrived.
type fragile struct {
	net.Listener
	accepted int  // connections so far
	oneIn    int  // one in so many is reset as soon as it is accepted; zero: none
	onReuse  bool // a connection is reset when its second request begins to arrive
	resets   atomic.Int32
}

func (l *fragile) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.accepted++
		if l.oneIn == 0 || l.accepted%l.oneIn != 0 {
			return &fragileConn{Conn: c, l: l}, nil
		}
		l.resets.Add(1)
		reset(c)
	}
}

type fragileConn struct {
	net.Conn
	l        *fragile
	answered atomic.Bool
}

func (c *fragileConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.l.onReuse && c.answered.Load() {
		c.l.resets.Add(1)
		reset(c.Conn)
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *fragileConn) Write(p []byte) (int, error) {
	// 100 Continue is not a response.
	if len(p) > 12 && string(p[9:12]) != "100" {
		c.answered.Store(true)
	}
	return c.Conn.Write(p)
}

// TestConnections pays over connections that break before the request has arrived: when they are accepted or, if a
// connection is reused, when the request begins. What is reported as not sent was not carried out, and with a new
// connection, or after 100 Continue, no outcome is unknown.
func TestConnections(t *testing.T) {
	for name, c := range map[string]struct {
		listener *fragile
		change   func(*cardgateway.Config)
		unknown  bool // some may be
	}{
		"reset at accept":                  {&fragile{oneIn: 2}, func(c *cardgateway.Config) { c.PaymentIdleTimeout = -1 }, true},
		"reset at accept, 100-continue":    {&fragile{oneIn: 2}, func(c *cardgateway.Config) { c.PaymentIdleTimeout, c.ExpectContinue = -1, true }, false},
		"closed on reuse":                  {&fragile{onReuse: true}, func(*cardgateway.Config) {}, true},
		"closed on reuse, 100-continue":    {&fragile{onReuse: true}, func(c *cardgateway.Config) { c.ExpectContinue = true }, false},
		"closed on reuse, new connections": {&fragile{onReuse: true}, func(c *cardgateway.Config) { c.PaymentIdleTimeout = -1 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := sandbox.New(sandbox.Options{Duplicates: sandbox.DuplicatesExecuted, NoNotifications: true})
			defer g.Close()
			s := httptest.NewUnstartedServer(g)
			c.listener.Listener = s.Listener
			s.Listener = c.listener
			s.Start()
			defer s.Close()
			config := cardgateway.Config{
				BaseURL: s.URL, AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: new(http.Transport)},
				Retry: cardgateway.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond},
			}
			c.change(&config)
			client := clienttest.NewClient(t, config)
			verdicts := make(map[Verdict]int)
			for _, o := range Orders(1, 200) {
				o.Card, o.Token = sandbox.Approved, false
				v := verdictOf(client.CreateSubscription(t.Context(), o.subscription()))
				verdicts[v]++
				if charged := g.Executed(o.ID); charged > 1 || v == Paid && charged != 1 || v == NotSent && charged != 0 {
					t.Errorf("%s: told %s, charged %d times", o.ID, v, charged)
				}
			}
			t.Logf("%d connections reset, %v", c.listener.resets.Load(), verdicts)
			if !c.unknown && verdicts[Unknown] > 0 {
				t.Errorf("%d unknown", verdicts[Unknown])
			}
		})
	}
}
