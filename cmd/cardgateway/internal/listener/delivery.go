package listener

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"github.com/cardgateway/cardgateway-go/notify"
)

// delivery is one notification that is being processed.
type delivery struct {
	name   string
	at     time.Time
	header http.Header
	query  string
	body   bytes.Buffer // as far as notify has read it; complete if the notification is confirmed
	info   notify.Info
	n      *notify.Notification // nil unless it is confirmed
	hidden relay.Hidden
	answer *relay.Answer // of the program; nil if the notification was not forwarded
	hungUp bool          // the gateway closed the connection before the program responded
}

type deliveryKey struct{}

// printRefusal prints the line about a notification that package notify refused, with the failed check and the reason.
func (l *Listener) printRefusal(d *delivery) {
	event := relay.Event{Kind: notify.KindUnknown.String()}
	n, err := notify.Parse(d.body.Bytes(), d.header.Get("Content-Type"))
	if err == nil {
		d.hidden = relay.Hide(l.o.SecretKey, n.Token)
		event = relay.ClaimedEvent(n, d.hidden)
	}
	var what string
	switch {
	case d.info.Throttled:
		what = "TURNED AWAY"
	case d.info.Verified || l.o.SkipVerify && err == nil:
		what = "NOT CONFIRMED"
	case d.info.Status == http.StatusForbidden:
		what = "SIGNATURE REFUSED"
		event.TransactionID = d.hidden.Text(event.TransactionID) // anybody may have written it
	default:
		what = "NOT A NOTIFICATION"
	}
	l.o.Printer.Event(d.at, d.name, event, what+": "+d.hidden.Text(inWords(d.info.Err)))
}

// inWords returns the message for an error of package notify or of the client.
func inWords(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, context.Canceled) {
		return "the gateway closed the connection"
	}
	text := strings.ReplaceAll(exit.Explain(err).Text, "notify: ", "")
	return strings.ReplaceAll(text, "Verify refused the notification: ", "")
}

// respond sends the program's response to the gateway, or only a status if there is none.
func (d *delivery) respond(w http.ResponseWriter, status int) {
	switch a := d.answer; {
	case a == nil:
		w.WriteHeader(status)
	case errors.Is(a.Err, relay.ErrTimeout):
		w.WriteHeader(http.StatusGatewayTimeout)
	case a.Err != nil:
		w.WriteHeader(http.StatusBadGateway)
	default:
		maps.Copy(w.Header(), a.Header)
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Body) // the gateway may have closed the connection
	}
}

// noResponse discards the response of package notify: notify.Info has its status.
type noResponse http.Header

func (n noResponse) Header() http.Header       { return http.Header(n) }
func (noResponse) Write(p []byte) (int, error) { return len(p), nil }
func (noResponse) WriteHeader(int)             {}
