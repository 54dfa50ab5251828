package walk

// pageSize is how many rows a walk requests per page, and how many it gets.
type pageSize struct {
	size        int   // requested
	granted     int   // rows that the gateway returns at most
	splitAbove  int   // a window with at most so many rows is paged through and not split; see Config
	smaller     []int // sizes to try if the gateway refuses size
	choices     []int // sizes to try, in this order
	proven      bool  // the gateway has accepted size
	guess       int   // page size according to the last window that had to guess it
	largestPage int   // largest number of rows of a response

	uncapped int // totals up to this one are no limit of the gateway, which has announced more, or so many in several windows
}

// newPageSize uses the caller's size or, if it is zero, as many rows as the gateway returns: the largest size or, if that
// is refused, smaller ones. Ten is the size of the published examples.
func newPageSize(size, maxSize, splitAbove int) pageSize {
	// The total may grow while a window is read, so only half of maxRows is allowed.
	p := pageSize{choices: []int{size}, splitAbove: min(splitAbove, maxRows/2)}
	if size == 0 {
		p.choices = []int{maxSize, 100, 10}
	}
	p.restart()
	return p
}

// restart begins again with the first size, unless the gateway has accepted one.
func (p *pageSize) restart() {
	if !p.proven {
		p.size, p.smaller = p.choices[0], p.choices[1:]
		p.granted = p.size
	}
}

// shrink selects the next smaller size after the gateway refused a window, and reports whether there is one.
func (p *pageSize) shrink() bool {
	if p.proven || len(p.smaller) == 0 {
		return false
	}
	p.size, p.smaller = p.smaller[0], p.smaller[1:]
	p.granted = p.size
	return true
}

// learn records how many rows fit on a page of a window, and the largest response. A guess counts if two windows agree on
// it and none had more rows, because a page can be short by accident.
func (p *pageSize) learn(granted int, guessed bool, largestPage int) {
	p.proven = true
	p.largestPage = max(p.largestPage, largestPage)
	if !guessed || granted == p.guess {
		p.granted = min(p.granted, granted)
	}
	if guessed {
		p.guess = granted
	}
	if p.granted < p.largestPage {
		p.granted = min(p.size, p.largestPage)
	}
}

// capacity is how many rows a window may have without being split.
func (p *pageSize) capacity() int { return max(p.granted, p.splitAbove) }
