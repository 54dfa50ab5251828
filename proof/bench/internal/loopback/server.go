// Package loopback is the server for all measured clients. It has prepared responses and uses net/http, so that
// measurements differ only by the client. It runs in a separate process; see Start.
package loopback

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"time"
)

// hello is what a server process writes about itself to its standard output.
type hello struct {
	Doors       []door
	Certificate string // of the addresses with TLS, PEM
}

// door is one address of the server.
type door struct {
	URL    string
	Secure bool
	Delay  time.Duration // before each response
}

// Delays are the delays that a server offers.
var Delays = []time.Duration{0, 20 * time.Millisecond, 50 * time.Millisecond}

// Serve serves until its standard input ends, which happens at the latest when the process that started it ends.
func Serve() {
	mux := newServer()
	var h hello
	for _, secure := range []bool{false, true} {
		for _, delay := range Delays {
			l := listen(mux, secure, delay)
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

func newServer() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /checkout/tokenization/payment/{token}", always(PaymentAnswer))
	mux.HandleFunc("POST /api/subscription", always(PaymentAnswer))
	mux.HandleFunc("POST /v1/payment_intents", always(intentAnswer))
	orders := newBook(MaxMonths)
	mux.HandleFunc("GET /search/list/order", orders.search)
	mux.HandleFunc("GET /v1/payment_intents", listIntents)
	return mux
}

func listen(mux *http.ServeMux, secure bool, delay time.Duration) *httptest.Server {
	l := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		mux.ServeHTTP(w, r)
	}))
	l.Config.ErrorLog = log.New(io.Discard, "", 0) // clients close connections early
	if secure {
		l.StartTLS()
	} else {
		l.Start()
	}
	return l
}

// always reads the whole request and always returns the same response.
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
