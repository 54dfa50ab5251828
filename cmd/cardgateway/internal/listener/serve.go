package listener

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/terminal"
)

// Timeouts of the server. Package notify waits up to 5 s for its turn, and queries the gateway for up to 20 s.
const (
	readTimeout   = 10 * time.Second
	beforeForward = longestPlace + 5*time.Second + 20*time.Second
)

// Serve receives notifications until ctx ends, Most is reached, or printing fails. It then finishes those in flight.
func (l *Listener) Serve(ctx context.Context, socket net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l.stop, l.o.Printer.Stopped = stop, stop
	longest := beforeForward + 5*time.Second
	if l.o.Forwarder != nil {
		longest += l.o.Forwarder.Timeout
	}
	server := &http.Server{
		Handler: l, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: readTimeout + longest,
		MaxHeaderBytes: 64 << 10, ErrorLog: log.New(lineWriter(l.o.Tell), "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(socket) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	l.o.End(len(l.places))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	defer cancel()
	err := server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	<-served
	return err
}

// lineWriter prints the log lines of the server as messages.
type lineWriter func(format string, args ...any)

func (tell lineWriter) Write(p []byte) (int, error) {
	tell("%s", terminal.Clean(strings.TrimSuffix(string(p), "\n")))
	return len(p), nil
}
