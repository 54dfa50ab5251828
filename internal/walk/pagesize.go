package walk

// pageSize is how many rows a walk asks for at once, and how many it gets.
type pageSize struct {
	size       int   // asked for
	granted    int   // what the gateway gives of that
	splitAbove int   // rows in a window that are paged through rather than narrowed; see Config
	smaller    []int // what to ask for if the gateway refuses size
	choices    []int // what to ask for, the first one first
	proven     bool  // the gateway has accepted size
	guess      int   // the size of pages according to the last window that had to guess it
	most       int   // rows that came at once

	mayBeCapped bool // the gateway has never announced more rows than it gave
}

// newPageSize takes the caller's size, or with zero as many rows as the gateway grants: the largest size that there is,
// and where that is refused, smaller ones. Ten is the size of the published examples.
func newPageSize(size, largest, splitAbove int) pageSize {
	// What is announced may grow while a window is read, so that half of what one may hold is allowed.
	p := pageSize{choices: []int{size}, splitAbove: min(splitAbove, maxRows/2), mayBeCapped: true}
	if size == 0 {
		p.choices = []int{largest, 100, 10}
	}
	p.restart()
	return p
}

// restart begins anew with the size that was asked for at first, unless the gateway has accepted another.
func (p *pageSize) restart() {
	if !p.proven {
		p.size, p.smaller = p.choices[0], p.choices[1:]
		p.granted = p.size
	}
}

// shrink asks for less after the gateway has refused a window, and reports whether there is less to ask for.
func (p *pageSize) shrink() bool {
	if p.proven || len(p.smaller) == 0 {
		return false
	}
	p.size, p.smaller = p.smaller[0], p.smaller[1:]
	p.granted = p.size
	return true
}

// learn records how many rows a page of a window had room for, and the most that came at once. A guess counts when two
// windows agree on it and none had more, since a page can be short by accident.
func (p *pageSize) learn(granted int, guessed bool, most int) {
	p.proven = true
	p.most = max(p.most, most)
	if !guessed || granted == p.guess {
		p.granted = min(p.granted, granted)
	}
	if guessed {
		p.guess = granted
	}
	if p.granted < p.most {
		p.granted = min(p.size, p.most)
	}
}

// capacity is how many rows a window may have without being narrowed.
func (p *pageSize) capacity() int { return max(p.granted, p.splitAbove) }
