// Package loopback is the server that all clients are measured against: ready answers over net/http, so that what
// differs between two measurements is the client. It runs in a process of its own; see Start.
package loopback

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// hello is what a server process says of itself on its standard output.
type hello struct {
	Doors       []door
	Certificate string // of the doors with TLS, PEM
}

// door is one address of the server.
type door struct {
	URL    string
	Secure bool
	Delay  time.Duration // before each answer
}

// Delays are those that a server can be asked with.
var Delays = []time.Duration{0, 20 * time.Millisecond, 50 * time.Millisecond}

// Serve answers until its standard input ends, which it does at the latest with the process that started it.
func Serve() {
	s := newServer()
	var h hello
	for _, secure := range []bool{false, true} {
		for _, delay := range Delays {
			l := s.listen(secure, delay)
			defer l.Close()
			h.Doors = append(h.Doors, door{l.URL, secure, delay})
			if secure {
				h.Certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: l.Certificate().Raw}))
			}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(h); err != nil {
		log.Print(err)
		return
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// server counts the connections that clients open.
type server struct {
	opened atomic.Int64
	mux    *http.ServeMux
}

func newServer() *server {
	s := &server{mux: http.NewServeMux()}
	s.mux.HandleFunc("GET /connections", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strconv.FormatInt(s.opened.Load(), 10))
	})
	s.mux.HandleFunc("POST /checkout/tokenization/payment/{token}", always(PaymentAnswer))
	s.mux.HandleFunc("POST /api/subscription", always(PaymentAnswer))
	s.mux.HandleFunc("POST /v1/payment_intents", always(intentAnswer))
	s.mux.HandleFunc("POST /v1/oauth2/token", always(payPalToken))
	orders := newBook(MaxMonths)
	s.mux.HandleFunc("GET /search/list/order", orders.search)
	s.mux.HandleFunc("GET /v1/payment_intents", listIntents)
	s.mux.HandleFunc("GET /repos/shop/orders/issues", listIssues)
	return s
}

func (s *server) listen(secure bool, delay time.Duration) *httptest.Server {
	l := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		s.mux.ServeHTTP(w, r)
	}))
	l.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that a client closes early
	l.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.opened.Add(1)
		}
	}
	if secure {
		l.StartTLS()
	} else {
		l.Start()
	}
	return l
}

// always reads the request to its end and gives the same answer to everyone.
func always(answer string) http.HandlerFunc {
	body, length := []byte(answer), []string{strconv.Itoa(len(answer))}
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		h := w.Header()
		h["Content-Type"], h["Content-Length"] = jsonContent, length
		_, _ = w.Write(body)
	}
}

var jsonContent = []string{"application/json"}
