package main

import (
	"cmp"
	"iter"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
)

type replayCommand struct {
	Deliveries []string `arg:"" optional:"" name:"delivery" help:"Notifications to send again, such as n-17."`
	Failed     bool     `help:"Send the notifications that failed and were not accepted later."`
	From       string   `required:"" placeholder:"FILE" file:"read" help:"Record that listen --record wrote."`
	To         string   `placeholder:"URL" help:"URL of the handler; default: where the notification was forwarded to."`
}

// Help is shown below the flags.
func (*replayCommand) Help() string {
	return `Sends recorded notifications again, in the order of the record. A replayed notification is not identical to the original: the
record contains no tokens, no unpublished members and no query string. They are omitted, as the output says, and the rest is
signed again with the secret key. Notifications that were refused are never replayed, because signing them would make them look
genuine.

The exit code is 0 if all were accepted (200), 1 if one was not, and 2 if there was no response.

Examples:
  cardgateway replay n-17 --from events.jsonl
  cardgateway replay --failed --from events.jsonl --to http://localhost:8080/notify`
}

// Run sends the selected notifications.
func (r *replayCommand) Run(c *call) error {
	if (len(r.Deliveries) > 0) == r.Failed {
		return exit.Fail(exit.Failed, "specify notifications such as n-17, or --failed")
	}
	for _, name := range r.Deliveries {
		if relay.Number(name) == 0 {
			return exit.Fail(exit.Failed, "%q is not the name of a notification; write n-17", name)
		}
	}
	set, err := c.load()
	if err != nil {
		return err
	}
	wanted, err := r.choose()
	if err != nil {
		return err
	}
	if len(wanted) == 0 {
		c.say("no notification failed")
		return nil
	}
	s, err := newNotificationSender(c, set)
	if err != nil {
		return err
	}
	forwarders := map[string]*relay.Forwarder{}
	for delivery, to := range wanted {
		if to == "" {
			return exit.Fail(exit.Failed, "the record does not say where %s was forwarded to: set --to http://localhost:8080/notify", delivery)
		}
		name := "--to"
		if r.To == "" {
			name = "the URL of " + delivery
		}
		if forwarders[to], err = relay.NewForwarder(name, to, s.timeout); err != nil {
			return err
		}
	}
	for d, err := range r.recorded() {
		if err != nil {
			return err
		}
		if to, ok := wanted[d.Delivery]; ok {
			if err := s.replay(c, forwarders[to], d); err != nil {
				return err
			}
		}
	}
	return s.result()
}

// choose returns the deliveries to send, with the URL of each: that of --to, or the one that it was forwarded to.
func (r *replayCommand) choose() (wanted map[string]string, err error) {
	wanted = map[string]string{}
	failures := map[string]*relay.Recorded{} // by event: the last failure
	for d, err := range r.recorded() {
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(r.Deliveries, d.Delivery):
			if _, ok := wanted[d.Delivery]; ok {
				return nil, exit.Fail(exit.Failed, "%s is in %s twice: two programs wrote to the file at the same time", d.Delivery, r.From)
			}
			if d.Body == nil {
				return nil, exit.Fail(exit.Failed, "%s was refused (%s), so it is not replayed", d.Delivery, d.RefusedBy)
			}
			wanted[d.Delivery] = cmp.Or(r.To, d.To)
		case !r.Failed || d.Body == nil:
		case d.Outcome == relay.Failed:
			failures[d.Event.Key()] = &relay.Recorded{Delivery: d.Delivery, To: d.To}
		case d.Outcome == relay.Forwarded:
			delete(failures, d.Event.Key())
		}
	}
	for _, d := range failures {
		wanted[d.Delivery] = cmp.Or(r.To, d.To)
	}
	for _, name := range r.Deliveries {
		if _, ok := wanted[name]; !ok {
			return nil, exit.Fail(exit.Failed, "%s is not in %s", name, r.From)
		}
	}
	return wanted, nil
}

// recorded returns the deliveries in the record, and an error as the last one if there is one. Listen may still be appending.
func (r *replayCommand) recorded() iter.Seq2[*relay.Recorded, error] {
	return func(yield func(*relay.Recorded, error) bool) {
		file, err := os.Open(r.From)
		if err != nil {
			yield(nil, exit.Fail(exit.Failed, "--from cannot be read: %v", err))
			return
		}
		defer file.Close()
		for d, err := range relay.NewReader(file).All() {
			if err != nil {
				err = exit.Fail(exit.Failed, "--from %s is not a record of listen: %v", r.From, err)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// replay signs and sends one delivery.
func (s *notificationSender) replay(c *call, to *relay.Forwarder, d *relay.Recorded) error {
	body, err := relay.Signed(d, s.secretKey)
	if err != nil {
		return exit.Fail(exit.Failed, "%s cannot be replayed: %s", d.Delivery, err)
	}
	line := relay.EventLine{Delivery: d.Delivery, Event: d.Event, Note: "signed again"}
	if len(d.Masked) > 0 {
		line.Note += ", without " + strings.Join(d.Masked, ", ")
	}
	return s.send(c.ctx, to, line, http.Header{"Content-Type": {d.ContentType}}, body)
}
