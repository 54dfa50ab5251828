package cardgateway

// pageSize is how many rows a walk asks for at once, and how many it gets.
type pageSize struct {
	size       int   // asked for
	granted    int   // what the gateway gives of that
	splitAbove int   // WalkOptions.SplitAbove, as far as a window's rows can be held
	smaller    []int // what to ask for if the gateway refuses
	first      int   // what was asked for at first
	proven     bool  // the gateway has accepted size
	guess      int   // what granted would be according to the last window that had to guess
	most       int   // rows that came at once
}

// sizes are what a walk asks for that is free to choose. The interface gives three digits and no maximum; ten is the
// size of the published examples.
func sizes() []int { return []int{maxPageSize, 100, 10} }

// newPageSize takes the caller's size, or zero for as many rows as the gateway grants.
func newPageSize(size, splitAbove int) pageSize {
	p := pageSize{first: size, splitAbove: min(splitAbove, maxRows/2)} // what is announced may grow while it is read
	p.again()
	return p
}

// again begins anew with the size that was asked for at first, unless the gateway has accepted another.
func (p *pageSize) again() {
	if p.proven {
		return
	}
	if p.size, p.smaller = p.first, nil; p.first == 0 {
		p.size, p.smaller = sizes()[0], sizes()[1:]
	}
	p.granted = p.size
}

// refused notes that the gateway refused a window and reports whether to ask for smaller pages.
func (p *pageSize) refused() bool {
	if p.proven || len(p.smaller) == 0 {
		return false
	}
	p.size, p.smaller = p.smaller[0], p.smaller[1:]
	p.granted = p.size
	return true
}

// learn notes how many rows the gateway grants, and the most that it gave at once. A guess needs two windows that
// agree and none that had more, since a page can be short by accident.
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

// capacity is how many rows a window may have so that it need not be narrowed.
func (p *pageSize) capacity() int { return max(p.granted, p.splitAbove) }
