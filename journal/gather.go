package journal

import "time"

// gathering waits for the callers of the last batch to come back, so that the next one is as full. They are about to: each has
// been released, and makes its payment. Without it two halves take turns, and each write costs the disk twice as much.
type gathering struct {
	most time.Duration // no longer than this; zero means not at all

	wanted  int         // so many writers are waited for; zero if none are
	arrived chan nobody // closed when they are there
}

// fewestGathered is from how many callers on it pays.
const fewestGathered = 8

// begin says what to wait for, and how long, after a batch of so many callers that took so long; nil is nothing.
func (g *gathering) begin(waiting, callers int, took time.Duration) (<-chan nobody, time.Duration) {
	most := min(took/2, g.most)
	if callers < fewestGathered || waiting >= callers || most <= 0 {
		return nil, 0
	}
	g.wanted, g.arrived = callers, make(chan nobody)
	return g.arrived, most
}

// count is told how many writers wait.
func (g *gathering) count(waiting int) {
	if g.wanted > 0 && waiting >= g.wanted {
		close(g.arrived)
		g.wanted = 0
	}
}
