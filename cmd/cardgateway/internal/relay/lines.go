package relay

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// AnswerLine is the line about the response.
type AnswerLine struct {
	Delivery string
	Outcome  Outcome
	Status   int // of the program's response, or of this program's if nothing was forwarded
	MS       int64
	To       string // the program's URL; empty if nothing was forwarded
	Note     string
	Body     string // of the program's response, without secrets
}

// Name returns the name of a delivery, such as n-17.
func Name(number int) string { return "n-" + strconv.Itoa(number) }

// Outcome is the outcome of a notification.
type Outcome int

// The outcomes.
const (
	Forwarded Outcome = iota // the program accepted it
	Failed                   // the program responded otherwise, or not at all
	Refused                  // by this program
	Held                     // not forwarded, because of the flags
)

// NewAnswerLine returns the line about a response of the program at a URL.
func NewAnswerLine(delivery, to string, a *Answer, h Hidden) AnswerLine {
	line := AnswerLine{
		Delivery: delivery, Outcome: Failed, Status: a.Status, MS: a.took.Milliseconds(), To: to,
		Note: h.Text(a.note()), Body: h.Text(string(a.Body)),
	}
	if a.Status == http.StatusOK { // according to the interface, nothing else is accepted
		line.Outcome = Forwarded
	}
	if location, _, _ := strings.Cut(a.Header.Get("Location"), "?"); location != "" && a.Status >= 300 && a.Status < 400 {
		line.Note = "to " + terminal.Cut(h.Text(location), 200) + "; " + line.Note
	}
	return line
}

// Printer prints lines of several goroutines.
type Printer struct {
	Zone    *time.Location
	Body    int // maximum bytes of a response body in a line
	Out     io.Writer
	Stopped func() // called when nothing can be printed any more; may be nil

	mu  sync.Mutex
	err error
}

// Event prints the line about a notification that a delivery brought.
func (p *Printer) Event(at time.Time, delivery string, e Event, note string) {
	p.print(at, fmt.Sprintf("-> %v  [%s]  %s", &e, delivery, note))
}

// Answer prints the line about the response.
func (p *Printer) Answer(line AnswerLine) {
	said := "no response"
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
		text += fmt.Sprintf("  body: %q", terminal.Cut(body, p.Body))
	}
	p.print(time.Now(), text)
}

func (p *Printer) print(at time.Time, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	if _, p.err = fmt.Fprintf(p.Out, "%s  %s\n", at.In(p.Zone).Format(time.TimeOnly), terminal.Clean(text)); p.err != nil && p.Stopped != nil {
		p.Stopped()
	}
}

// Failure returns why not every line was printed, or nil.
func (p *Printer) Failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
