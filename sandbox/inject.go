package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Inject adds a fault. If several match a request, only the first injected one that is not used up applies. Inject panics
// if there is no such operation, because a test whose fault never applies would pass, or if Status is not valid.
func (g *Gateway) Inject(f Fault) {
	if err := f.check(); err != nil {
		panic("sandbox: Inject: " + err.Error())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = slices.DeleteFunc(g.faults, func(a *activeFault) bool { return a.left == 0 })
	g.injected++
	a := &activeFault{Fault: f, left: f.Times, number: g.injected}
	if f.Times == 0 {
		a.left = 1
	}
	if f.For > 0 {
		a.until = time.Now().Add(f.For)
	}
	g.faults = append(g.faults, a)
}

// check returns an error if no request could match the fault, or its status cannot be sent.
func (f *Fault) check() error {
	switch {
	case !f.Operation.known():
		return fmt.Errorf("there is no operation %.40q; known are %s", f.Operation, strings.Join(operationNames(), ", "))
	case f.Status != 0 && (f.Status < 200 || f.Status > 999): // net/http writes no others
		return errors.New("status is not an HTTP status from 200 to 999")
	}
	return nil
}

// ClearFaults removes every fault.
func (g *Gateway) ClearFaults() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = nil
}

// takeFault returns the fault that applies to this call, or nil, and counts the use. The caller holds g.mu.
func (g *Gateway) takeFault(c *call) *Fault {
	now := time.Now()
	for _, a := range g.faults {
		if a.left == 0 || !a.matches(c, now) {
			continue
		}
		a.seen++
		if a.seen <= a.Skip || (a.OneIn > 1 && hash(g.opts.Seed, uint64(a.number), uint64(a.seen))%uint64(a.OneIn) != 0) {
			continue
		}
		if a.left > 0 {
			a.left--
		}
		return &a.Fault
	}
	return nil
}
