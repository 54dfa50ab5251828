package simulation

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// Shrink returns a history with as few steps as possible that still breaks the same promise: first steps are left out, in
// halves, quarters and so on, then arguments are set to their plain values, then what the world has beyond the plain one.
//
// This is delta debugging and not pgregory.net/rapid, which the world could draw from too: rapid shrinks the numbers that
// were drawn, and a step that is left out shifts the meaning of all that follow. Here a step has its arguments with it.
func Shrink(t *testing.T, h *History, most time.Duration) (*History, Result) {
	first := Run(t, h, false)
	if len(first.Broken) == 0 {
		return h, first
	}
	s := &shrinking{t: t, best: *h, promise: first.Broken[0].Promise, until: time.Now().Add(most)}
	if last := first.Broken[0].Step; last+1 < len(h.Steps) {
		s.try(func(h *History) { h.Steps = h.Steps[:last+1] })
	}
	for {
		before := s.successes
		s.steps()
		s.things()
		s.arguments()
		s.world()
		if s.successes == before || !s.inTime() {
			break
		}
	}
	return &s.best, Run(t, &s.best, true)
}

type shrinking struct {
	t         *testing.T
	best      History
	promise   string
	until     time.Time
	successes int
}

func (s *shrinking) inTime() bool { return time.Now().Before(s.until) }

// try reports whether a history that is really changed still breaks the promise, and keeps it then.
func (s *shrinking) try(change func(*History)) bool {
	if !s.inTime() {
		return false
	}
	h := s.best
	h.Steps, h.Things = slices.Clone(h.Steps), slices.Clone(h.Things)
	h.World.Shops = slices.Clone(h.World.Shops)
	change(&h)
	if reflect.DeepEqual(h, s.best) {
		return false
	}
	r := Run(s.t, &h, false)
	if len(r.Broken) == 0 || r.Broken[0].Promise != s.promise {
		return false
	}
	s.best = h
	s.successes++
	return true
}

// steps leaves out steps.
func (s *shrinking) steps() {
	for size := max(len(s.best.Steps)/2, 1); size >= 1 && s.inTime(); size /= 2 {
		for from := len(s.best.Steps) - size; from > -size; from -= size {
			start := max(from, 0)
			s.try(func(h *History) {
				gone := h.Steps[start:min(start+size, len(h.Steps))]
				var after time.Duration
				for i := range gone {
					after += gone[i].After
				}
				h.Steps = slices.Delete(h.Steps, start, start+len(gone))
				if start < len(h.Steps) { // what follows stays at its time
					h.Steps[start].After += after
				}
			})
		}
	}
}

// arguments sets the arguments of steps, and the members of things, to their zero values.
func (s *shrinking) arguments() {
	for i := range s.best.Steps {
		s.plain(func(h *History) reflect.Value { return reflect.ValueOf(&h.Steps[i]).Elem() }, "Do")
		if s.best.Steps[i].After > time.Minute {
			_ = s.try(func(h *History) { h.Steps[i].After = time.Minute }) ||
				s.try(func(h *History) { h.Steps[i].After = h.Steps[i].After.Round(time.Hour) })
		}
		if s.best.Steps[i].DieAt > 1 {
			for n := 1; n < s.best.Steps[i].DieAt && !s.try(func(h *History) { h.Steps[i].DieAt = n }); n++ {
			}
		}
	}
	for i := range s.best.Things {
		s.plain(func(h *History) reflect.Value { return reflect.ValueOf(&h.Things[i]).Elem() })
	}
}

// things leaves out the last things, if no step is about them.
func (s *shrinking) things() {
	last := 0
	for _, x := range s.best.Steps {
		t := x.Thing % len(s.best.Things)
		last = max(last, t, s.best.Things[t].Of)
	}
	s.try(func(h *History) { h.Things = h.Things[:min(last+1, len(h.Things))] })
}

// world sets what the world has to its zero values.
func (s *shrinking) world() {
	for i := len(s.best.World.Shops) - 1; i >= 0; i-- {
		if i > 0 && i == len(s.best.World.Shops)-1 && s.try(func(h *History) { h.World.Shops = h.World.Shops[:i] }) {
			continue
		}
		var stay []string
		if i > 0 { // a shop differs from the others by its address and appId
			stay = []string{"AppID", "Base"}
		}
		s.plain(func(h *History) reflect.Value { return reflect.ValueOf(&h.World.Shops[i]).Elem() }, stay...)
	}
	s.try(func(h *History) { h.World.Store = "" })
}

// plain sets the fields of a struct to zero, and those of the structs in it, except those that stay.
func (s *shrinking) plain(of func(*History) reflect.Value, stay ...string) {
	for f := range of(&s.best).NumField() {
		field := func(h *History) reflect.Value { return of(h).Field(f) }
		if slices.Contains(stay, of(&s.best).Type().Field(f).Name) || field(&s.best).IsZero() {
			continue
		}
		if !s.try(func(h *History) { field(h).SetZero() }) && field(&s.best).Kind() == reflect.Struct {
			s.plain(field)
		}
	}
}
