package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// lineFlags are those of the commands that print events and answers.
type lineFlags struct {
	Format string `enum:"text,json" default:"text" help:"text or json: one object a line."`
}

// eventLine is the line about a notification.
type eventLine struct {
	Type     string    `json:"type"` // event
	Delivery string    `json:"delivery"`
	At       time.Time `json:"at"`
	event
	RefusedBy string `json:"refusedBy,omitempty"` // form, bounds, signature or confirmation
	Note      string `json:"note"`
}

// answerLine is the line about what came of it.
type answerLine struct {
	Type     string    `json:"type"` // answer
	Delivery string    `json:"delivery"`
	At       time.Time `json:"at"`
	Outcome  outcome   `json:"outcome"`
	Status   int       `json:"status,omitempty"` // of the program's answer, or of this one's where nothing was forwarded
	MS       int64     `json:"ms"`
	To       string    `json:"to,omitempty"` // the program's address; empty where nothing was forwarded
	Note     string    `json:"note,omitempty"`
	Body     string    `json:"body,omitempty"` // of the program's answer: its first 2 kB, without secrets
}

// outcome is what became of a notification.
type outcome string

const (
	forwarded outcome = "forwarded" // the program took it
	failed    outcome = "failed"    // the program answered otherwise, or not at all
	refused   outcome = "refused"   // by this program
	held      outcome = "held"      // not forwarded, as the flags want it
)

// How much of an answer's body is shown.
const (
	longestBody      = 2 << 10
	longestBodyShort = 200 // in the lines of listen
)

// newAnswerLine shows an answer of a program.
func newAnswerLine(delivery string, f *forwarder, a *answer, h hidden) answerLine {
	line := answerLine{
		Delivery: delivery, At: f.now(), Outcome: failed, Status: a.status, MS: a.took.Milliseconds(), To: f.shown,
		Note: h.text(a.note()), Body: terminal.Cut(h.text(string(a.body)), longestBody),
	}
	if a.isTaken() {
		line.Outcome = forwarded
	}
	if to := a.header.Get("Location"); to != "" && a.status >= 300 && a.status < 400 {
		line.Note = "to " + terminal.Cut(h.text(withoutQuery(to)), 200) + "; " + line.Note
	}
	return line
}

func withoutQuery(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
}

// linePrinter prints lines of several goroutines.
type linePrinter struct {
	format  string
	zone    *time.Location
	body    int // so many bytes of it in a line of text
	out     io.Writer
	stopped func() // called when nothing can be printed any more; may be nil

	mu  sync.Mutex
	err error
}

func (p *linePrinter) event(line eventLine) {
	line.Type, line.At = "event", line.At.In(p.zone)
	text := fmt.Sprintf("-> %v  [%s]  %s", &line.event, line.Delivery, line.Note)
	p.print(line.At, terminal.Clean(text), line)
}

func (p *linePrinter) answer(line answerLine) {
	line.Type, line.At = "answer", line.At.In(p.zone)
	said := "no answer"
	if line.Status != 0 {
		said = fmt.Sprint(line.Status)
	}
	to := line.To
	if to == "" {
		to = "by cardgateway"
	}
	text := fmt.Sprintf("<- %-18s %s  [%s]", fmt.Sprintf("%s in %d ms", said, line.MS), to, line.Delivery)
	if line.Note != "" {
		text += "  " + line.Note
	}
	if body := strings.TrimSpace(line.Body); body != "" {
		text += fmt.Sprintf("  body: %q", terminal.Cut(body, p.body))
	}
	p.print(line.At, terminal.Clean(text), line)
}

func (p *linePrinter) print(at time.Time, text string, object any) {
	line := []byte(at.Format(time.TimeOnly) + "  " + text + "\n")
	if p.format == "json" {
		encoded, err := json.Marshal(object)
		if err != nil {
			return // cannot happen: texts, numbers and times
		}
		line = append([]byte(terminal.Clean(string(encoded))), '\n')
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	if _, p.err = p.out.Write(line); p.err != nil && p.stopped != nil {
		p.stopped()
	}
}

// failure is why not every line was printed, or nil.
func (p *linePrinter) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
