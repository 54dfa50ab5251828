package main

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

type replayCommand struct {
	Deliveries []string `arg:"" optional:"" name:"delivery" help:"What to send again, such as n-17."`
	Failed     bool     `help:"Send again what failed and was not forwarded later."`
	From       string   `required:"" placeholder:"FILE" help:"What listen --record wrote."`
	To         string   `placeholder:"URL" help:"Where to; where it was forwarded to if not given."`
	relay.LineFlags
}

// Help is shown below the flags.
func (*replayCommand) Help() string {
	return `Sends recorded notifications again, in the order of the record. The record has no tokens and no members that are not published:
they are left out, which the line says, and the rest is signed anew with the secret key. So it is not byte for byte what came.
Neither is the query of the URL recorded. What was refused when it came is not sent: a signature would make it look genuine.

Ends with 0 if all were taken (200), 1 if one was answered otherwise, 2 if one could not be sent.

Examples:
  cardgateway replay n-17 --from events.jsonl
  cardgateway replay --failed --from events.jsonl --to http://localhost:8080/notify`
}

// Run sends what was chosen.
func (r *replayCommand) Run(c *call) error {
	if (len(r.Deliveries) > 0) == r.Failed {
		return exit.Fail(exit.NoAnswer, "name deliveries such as n-17, or say --failed")
	}
	for _, name := range r.Deliveries {
		if relay.Number(name) == 0 {
			return exit.Fail(exit.NoAnswer, "%q is no delivery; write n-17", terminal.Clean(name))
		}
	}
	set, err := c.load()
	if err != nil {
		return err
	}
	wanted, to, err := r.choose()
	if err != nil {
		return err
	}
	if len(wanted) == 0 {
		c.say("none has failed")
		return nil
	}
	if r.To == "" && to == "" {
		return exit.Fail(exit.NoAnswer, "say where to: --to http://localhost:8080/notify")
	}
	s, err := newNotificationSender(c, set, "--to", cmp.Or(r.To, to), r.Format)
	if err != nil {
		return err
	}
	if err := r.each(func(d *relay.Recorded) error {
		if !wanted[d.Delivery] {
			return nil
		}
		return s.replay(c, d)
	}); err != nil {
		return err
	}
	return s.result()
}

// choose returns the deliveries to send, and where the last of them was forwarded to.
func (r *replayCommand) choose() (wanted map[string]bool, to string, err error) {
	wanted = map[string]bool{}
	failures := map[string]*relay.Recorded{} // by event: what failed last
	err = r.each(func(d *relay.Recorded) error {
		switch {
		case slices.Contains(r.Deliveries, d.Delivery):
			if wanted[d.Delivery] {
				return exit.Fail(exit.NoAnswer, "%s is in %s twice: two programs wrote it at once", d.Delivery, terminal.Clean(r.From))
			}
			if d.Body == nil {
				return exit.Fail(exit.NoAnswer, "%s was refused when it came (%s): it is not sent", d.Delivery, terminal.Clean(d.RefusedBy))
			}
			wanted[d.Delivery], to = true, cmp.Or(d.To, to)
		case !r.Failed || d.Body == nil:
		case d.Outcome == relay.Failed:
			failures[d.Event.Key()] = &relay.Recorded{Delivery: d.Delivery, To: d.To}
		case d.Outcome == relay.Forwarded:
			delete(failures, d.Event.Key())
		}
		return nil
	})
	for _, d := range failures {
		wanted[d.Delivery], to = true, cmp.Or(d.To, to)
	}
	for _, name := range r.Deliveries {
		if err == nil && !wanted[name] {
			err = exit.Fail(exit.NoAnswer, "%s is not in %s", name, terminal.Clean(r.From))
		}
	}
	return wanted, to, err
}

// each calls do with every delivery of the record.
func (r *replayCommand) each(do func(*relay.Recorded) error) error {
	file, err := os.Open(r.From)
	if err != nil {
		return exit.Fail(exit.NoAnswer, "--from cannot be read: %v", err)
	}
	defer file.Close()
	reader := relay.NewReader(file)
	for {
		d, err := reader.Next()
		if errors.Is(err, io.EOF) { // listen may be writing more
			return nil
		}
		if err != nil {
			return exit.Fail(exit.NoAnswer, "--from %s is not a record of listen: %v", terminal.Clean(r.From), err)
		}
		if err := do(d); err != nil {
			return err
		}
	}
}

// replay signs and sends one.
func (s *notificationSender) replay(c *call, d *relay.Recorded) error {
	body, err := relay.Signed(d, s.secretKey)
	if err != nil {
		return exit.Fail(exit.NoAnswer, "%s cannot be made: %s", d.Delivery, terminal.Clean(err.Error()))
	}
	line := relay.EventLine{Delivery: d.Delivery, Event: d.Event, Note: "signed anew"}
	if len(d.Masked) > 0 {
		line.Note += ", without " + strings.Join(d.Masked, ", ")
	}
	return s.send(c.ctx, line, http.Header{"Content-Type": {d.ContentType}}, body)
}
