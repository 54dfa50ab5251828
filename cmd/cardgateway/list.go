package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/progress"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/shopspring/decimal"
)

// listFlags are the flags of orders and refunds.
type listFlags struct {
	period.Period `group:"Range, in the gateway's time zone:"`
	tabular.Flags
	Sum        bool   `help:"Print only the totals."`
	Checkpoint string `placeholder:"FILE" file:"write" help:"Save the position in the list to this file, or resume the list from it."`
	progress.Interval
}

// listing is one run of orders or refunds.
type listing[T any] struct {
	*call
	flags   *listFlags
	client  *cardgateway.Client
	name    string
	columns []tabular.Column[T]
	states  []string          // only these; empty means all
	filter  map[string]string // without its empty values it is saved.Filter
	walk    func(from, to time.Time, opts cardgateway.WalkOptions) *cardgateway.Walk[T]
	matches func(*T) bool
	money   func(*T) (currency, state string, amount decimal.Decimal)

	saved    saved // the content of the checkpoint, also without --checkpoint
	writer   tabular.Writer[T]
	pending  []*T // rows not written yet
	ready    int  // how many of them can be written: they are sorted and, with a checkpoint, covered by saved.At
	progress *progress.Progress
	watched  bool      // stdout is a terminal
	last     time.Time // of the last flush
}

func (l *listing[T]) run() error {
	if err := l.prepare(); err != nil {
		return err
	}
	l.writer = tabular.NewWriter(l.saved.Format, l.columns, l.saved.Headed, l.out)
	l.progress = progress.New(l.name, l.saved.From.In(l.client.Location()), l.err, l.flags.LogEvery, l.settings.Quiet)
	defer l.progress.Stop()
	l.watched, l.last = progress.IsTerminal(l.out), time.Now()
	var walk *cardgateway.Walk[T]
	walk = l.walk(l.saved.From, l.saved.To, cardgateway.WalkOptions{Resume: l.saved.At, Progress: func(p cardgateway.Progress) {
		l.progress.Update(p)
		l.windowDone(walk.Checkpoint())
	}})
	var err error
	for row, failed := range walk.All(l.ctx) {
		if err = failed; err != nil {
			break
		}
		if l.wanted(row) {
			l.pending = append(l.pending, row)
		}
		if err = l.write(false); err != nil {
			break
		}
	}
	l.progress.Stop()
	if err == nil || errors.Is(err, cardgateway.ErrUnreadableRows) { // which is told after all other rows
		l.ready = len(l.pending)
		err = l.write(true)
	}
	if err != nil {
		return l.interrupted(err)
	}
	return l.finish(walk.Report())
}

// prepare sets the range and the format, from the flags or from the checkpoint.
func (l *listing[T]) prepare() error {
	before, err := readSaved(l.flags.Checkpoint)
	if err != nil {
		return err
	}
	format := l.flags.Format
	if before != nil {
		format = cmp.Or(format, before.Format)
	}
	zone := l.client.Location()
	maps.DeleteFunc(l.filter, func(_, value string) bool { return value == "" })
	l.saved = saved{
		List: l.name, Gateway: l.client.BaseURL(), AppID: l.client.AppID(), Zone: zone.String(), Filter: l.filter,
		Format: l.rowFormat(format, l.flags.Sum),
	}
	if before == nil || l.flags.Period.IsSet() {
		if l.saved.From, l.saved.To, err = l.flags.Period.Bounds(l.now(), zone); err != nil {
			return err
		}
	}
	if before != nil {
		if l.flags.Last != 0 || l.flags.From != "" && l.flags.To == "" { // their range changes every second
			l.saved.From, l.saved.To = before.From, before.To
		}
		if what := before.differs(&l.saved); what != "" {
			return exit.Fail(exit.Failed, "--checkpoint %s belongs to another list: %s. Finish that list, or choose another file",
				l.flags.Checkpoint, what)
		}
		l.saved = *before
		l.say("resuming %s from %s to %s: %s rows were written before", l.name, terminal.Wall(before.From.In(zone)),
			terminal.Wall(before.To.In(zone)), terminal.Thousands(before.Sums.Rows()))
		return nil
	}
	if l.flags.Checkpoint != "" {
		return l.saved.write(l.flags.Checkpoint) // before the first query, so that an error loses nothing
	}
	return nil
}

// windowDone makes the rows of a window ready, sorted oldest first: gateways return the newest first. With --checkpoint, the
// rows wait until the checkpoint advances: rows that are too recent for it are returned again when the list is resumed.
func (l *listing[T]) windowDone(at cardgateway.Checkpoint) {
	slices.SortStableFunc(l.pending[l.ready:], l.byTime)
	if l.flags.Checkpoint == "" || !reflect.DeepEqual(at, l.saved.At) {
		l.saved.At, l.ready = at, len(l.pending)
	}
}

// byTime compares the first column of two rows.
func (l *listing[T]) byTime(a, b *T) int {
	time := l.columns[0].Value
	return cmp.Compare(tabular.Cell(time(a)), tabular.Cell(time(b)))
}

func (l *listing[T]) wanted(row *T) bool {
	_, state, _ := l.money(row)
	return l.matches(row) && (len(l.states) == 0 || slices.Contains(l.states, state))
}

// write writes the rows that are ready, and then the checkpoint. Unless now is set, it does so at most once a second. If the
// machine fails in between, some rows are written twice after resuming, but none is missing.
func (l *listing[T]) write(now bool) error {
	if !now && time.Since(l.last) < time.Second {
		return nil
	}
	l.last = time.Now()
	for _, row := range l.pending[:l.ready] {
		currency, state, amount := l.money(row)
		l.saved.Sums.Add(currency, state, amount)
		if l.watched {
			l.progress.Stop() // a bar would be written between the rows
		}
		if err := l.writer.Write(row); err != nil {
			return exit.CannotWrite("rows", err)
		}
	}
	l.pending, l.ready = slices.Delete(l.pending, 0, l.ready), 0
	if err := l.writer.Flush(); err != nil {
		return exit.CannotWrite("rows", err)
	}
	if l.flags.Checkpoint == "" {
		return nil
	}
	// A power failure must not leave the checkpoint, and take rows before it that were not on the disk yet.
	if f, ok := l.out.(interface{ Sync() error }); ok && !l.watched {
		if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) { // EINVAL: a pipe
			return exit.CannotWrite("rows", err)
		}
	}
	l.saved.Headed = true
	return l.saved.write(l.flags.Checkpoint)
}

// interrupted writes the rows that are ready, and prints what is saved and how to resume.
func (l *listing[T]) interrupted(err error) error {
	path := l.flags.Checkpoint
	if own, ok := errors.AsType[*exit.Failure](err); ok { // nothing more can be written
		if path != "" {
			l.tell("%s was last saved about a second ago: a list that resumes from it writes the last rows twice", path)
		}
		return exit.Fail(own.Code, "the list is not complete: %s", own.Text)
	}
	if path == "" {
		l.ready = len(l.pending)
	}
	if writeErr := l.write(true); writeErr != nil {
		return writeErr
	}
	if path != "" {
		l.tell("saved in %s: %s rows were written. To resume, append to the same file: %s", path, terminal.Thousands(l.saved.Sums.Rows()), l.goOn())
	}
	if errors.Is(err, context.Canceled) {
		return exit.Fail(exit.Interrupted, "interrupted; the list is not complete")
	}
	failed := exit.Explain(err)
	return exit.Fail(failed.Code, "the list is not complete: %s", failed.Text)
}

// goOn returns the command that resumes the list.
func (l *listing[T]) goOn() string {
	words := []string{l.name, "--checkpoint", l.flags.Checkpoint}
	for _, name := range slices.Sorted(maps.Keys(l.saved.Filter)) {
		words = append(words, "--"+name+"="+l.saved.Filter[name]) // in one word: an id can begin with a hyphen
	}
	return l.commandLine(words...)
}

// finish prints the totals, up to when the list is complete, and what it lacks. It removes the checkpoint.
func (l *listing[T]) finish(r cardgateway.WalkReport) error {
	zone := l.client.Location()
	if err := l.printSums(l.saved.Sums, l.saved.Format); err != nil {
		return err
	}
	if r.WrongZone != nil {
		return exit.Fail(exit.Failed, "rows are missing: %s; set zone", r.WrongZone)
	}
	if r.CompleteUpTo.Before(l.saved.To) && r.CompleteUpTo.Before(l.now()) {
		l.say("complete up to %s; the gateway may not list all rows after that yet", terminal.Wall(r.CompleteUpTo.In(zone)))
	}
	if path := l.flags.Checkpoint; path != "" {
		if err := os.Remove(path); err != nil {
			return exit.Fail(exit.Failed, "the list is complete, but --checkpoint cannot be removed: %v", err)
		}
		l.say("the list is complete, %s was removed", path)
	}
	if r.Unreadable != nil {
		return exit.Fail(exit.Unreadable, "the list lacks rows: %s", exit.Explain(r.Unreadable).Text)
	}
	return nil
}
