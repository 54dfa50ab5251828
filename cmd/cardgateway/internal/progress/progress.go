// Package progress shows how far a walk has come, on a terminal or as lines.
package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// Interval is the flag of commands that show progress.
type Interval struct {
	LogEvery time.Duration `default:"10s" help:"Without a terminal: interval of the progress lines on stderr; 0 for none."`
}

// Progress shows the progress of a list: as a bar on a terminal, otherwise as a line at intervals. The zero Progress shows nothing.
type Progress struct {
	name string
	from time.Time // start of the range, in the gateway's time zone
	last atomic.Pointer[cardgateway.Progress]
	end  func() // nil: nothing is shown
}

// New shows progress on out until Stop. Without a terminal it writes a line at every interval, if that is above zero. With quiet it shows
// nothing.
func New(name string, from time.Time, out io.Writer, every time.Duration, quiet bool) *Progress {
	p := &Progress{name: name, from: from}
	p.last.Store(new(cardgateway.Progress))
	switch f, ok := out.(*os.File); {
	case quiet:
	case ok && widthOf(f) > 0:
		p.end = sync.OnceFunc(p.bar(f))
	case every > 0:
		p.end = sync.OnceFunc(p.lines(out, every))
	}
	return p
}

// Stop ends the output: nothing is written afterwards. It can be called more than once.
func (p *Progress) Stop() {
	if p.end != nil {
		p.end()
	}
}

// Update is WalkOptions.Progress.
func (p *Progress) Update(now cardgateway.Progress) { p.last.Store(&now) }

func (p *Progress) bar(out io.Writer) (stop func()) {
	const whole = 1000
	container := mpb.New(mpb.WithOutput(out), mpb.WithWidth(40))
	bar := container.New(whole, mpb.BarStyle(), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string {
			return fmt.Sprintf("%s %s rows ", p.name, terminal.Thousands(p.last.Load().Rows))
		})),
		mpb.AppendDecorators(
			decor.Any(func(decor.Statistics) string { return percent(p.last.Load().Fraction) + " of the range, left " }),
			decor.AverageETA(decor.ET_STYLE_GO),
		),
	)
	done := p.tick(200*time.Millisecond, func() { bar.SetCurrent(int64(p.last.Load().Fraction * (whole - 1))) })
	return func() {
		done()
		bar.Abort(true)
		container.Wait()
	}
}

func (p *Progress) lines(out io.Writer, every time.Duration) (stop func()) {
	return p.tick(every, func() {
		now := p.last.Load()
		line := fmt.Sprintf("%s cardgateway: %s: %s rows, %s of the range", time.Now().In(p.from.Location()).Format(time.DateTime), p.name,
			terminal.Thousands(now.Rows), percent(now.Fraction))
		if now.CompleteUpTo.After(p.from) {
			line += ", complete up to " + terminal.Wall(now.CompleteUpTo.In(p.from.Location()))
		}
		fmt.Fprintln(out, line)
	})
}

// tick calls f at intervals, until the function that it returns has returned.
func (p *Progress) tick(every time.Duration, f func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				f()
			case <-end:
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

func percent(fraction float64) string { return fmt.Sprintf("%d%%", int(math.Floor(fraction*100))) }

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// widthOf returns the width of a terminal. It is 0 if f is not a terminal, or if the width is unknown, as in many containers: a bar
// would be invisible there.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
