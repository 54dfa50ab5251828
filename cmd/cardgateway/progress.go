package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress shows how far a list has come: a bar on a terminal, elsewhere a line from time to time.
type progress struct {
	name string
	from time.Time // where the range begins, in the zone of the gateway
	last atomic.Pointer[cardgateway.Progress]
	stop func() // may be called again
}

// newProgress begins to show, until stop.
func newProgress(name string, from time.Time, out io.Writer, every time.Duration, quiet bool) *progress {
	p := &progress{name: name, from: from}
	p.last.Store(new(cardgateway.Progress))
	switch f, ok := out.(*os.File); {
	case quiet:
		p.stop = func() {}
	case ok && widthOf(f) > 0:
		p.stop = sync.OnceFunc(p.bar(f))
	default:
		p.stop = sync.OnceFunc(p.lines(out, every))
	}
	return p
}

// widthOf is that of a terminal: 0 where f is none, and where it does not tell, as in many containers. A bar would be
// invisible there.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// update is WalkOptions.Progress.
func (p *progress) update(now cardgateway.Progress) { p.last.Store(&now) }

func (p *progress) bar(out io.Writer) (stop func()) {
	const whole = 1000
	container := mpb.New(mpb.WithOutput(out), mpb.WithWidth(40))
	bar := container.New(whole, mpb.BarStyle(), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string {
			return fmt.Sprintf("%s %s rows ", p.name, thousands(p.last.Load().Rows))
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

func (p *progress) lines(out io.Writer, every time.Duration) (stop func()) {
	return p.tick(every, func() {
		now := p.last.Load()
		line := fmt.Sprintf("%s cardgateway: %s: %s rows, %s of the range", time.Now().In(p.from.Location()).Format(time.DateTime), p.name,
			thousands(now.Rows), percent(now.Fraction))
		if now.CompleteUpTo.After(p.from) {
			line += ", complete up to " + wall(now.CompleteUpTo.In(p.from.Location()))
		}
		fmt.Fprintln(out, line)
	})
}

// tick calls f now and then, until the function that it returns has returned.
func (p *progress) tick(every time.Duration, f func()) (stop func()) {
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

// thousands writes a number with a comma for every three digits.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
