package listener

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"github.com/cardgateway/cardgateway-go/notify"
)

// delivery is one notification on its way through a listener.
type delivery struct {
	name    string
	at      time.Time
	header  http.Header
	query   string
	body    bytes.Buffer // what notify has read: all of it when the notification is confirmed
	info    notify.Info
	event   *relay.EventLine     // set once it can be printed
	n       *notify.Notification // nil unless it is confirmed
	hidden  relay.Hidden
	answer  *relay.Answer // of the program; nil if it was not asked
	hungUp  bool          // the gateway did so before the program's answer
	printed bool          // the event
}

type deliveryKey struct{}

// refusal is the line about a notification that package notify refused: by which check, and why.
func refusal(d *delivery, secretKey string, skipVerify bool) *relay.EventLine {
	line := &relay.EventLine{Delivery: d.name, At: d.at, Event: relay.Event{Kind: notify.KindUnknown.String()}}
	n, err := notify.Parse(d.body.Bytes(), d.header.Get("Content-Type"))
	if err == nil {
		d.hidden = relay.Hide(secretKey, n.Token)
		line.Event = relay.ClaimedEvent(n)
		line.Event.Hide(d.hidden)
	}
	var what string
	switch {
	case d.info.Throttled:
		line.RefusedBy, what = "bounds", "TURNED AWAY"
	case d.info.Verified || skipVerify && err == nil:
		line.RefusedBy, what = "confirmation", "NOT CONFIRMED"
	case d.info.Status == http.StatusForbidden:
		line.RefusedBy, what = "signature", "SIGNATURE REFUSED"
		line.TransactionID = d.hidden.Text(line.TransactionID) // anybody may have written it
	default:
		line.RefusedBy, what = "form", "NOT A NOTIFICATION"
	}
	line.Note = what + ": " + d.hidden.Text(inWords(d.info.Err))
	return line
}

// inWords is an error of package notify, or of the client, in words for people.
func inWords(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, context.Canceled) {
		return "the gateway hung up before"
	}
	text := strings.ReplaceAll(exit.Explain(err).Text, "notify: ", "")
	return strings.ReplaceAll(text, "Verify refused the notification: ", "")
}

// respond answers the gateway as the program did, or with a status alone.
func (d *delivery) respond(w http.ResponseWriter, status int) {
	switch a := d.answer; {
	case a == nil:
		w.WriteHeader(status)
	case errors.Is(a.Err, relay.ErrTimeout):
		w.WriteHeader(http.StatusGatewayTimeout)
	case a.Err != nil:
		w.WriteHeader(http.StatusBadGateway)
	default:
		for name, values := range a.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Body) // who has hung up needs no answer
	}
}

// statusOnly is a response of which only the status counts.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(p []byte) (int, error) { return len(p), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }

type readCloser struct {
	io.Reader
	io.Closer
}
