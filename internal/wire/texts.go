package wire

import "slices"

// texts collects the texts of one row and converts them to strings together, with one allocation per row.
type texts struct {
	arena   []byte
	pending []pendingText
	scratch []byte // the last text that had escapes
}

// pendingText is a part of the arena and the destination of its string.
type pendingText struct {
	dst        *string
	start, end int
}

func (t *texts) add(dst *string, text []byte) {
	start := len(t.arena)
	t.arena = append(t.arena, text...)
	t.pending = append(t.pending, pendingText{dst, start, len(t.arena)})
}

// has reports whether there is a text for dst.
func (t *texts) has(dst *string) bool {
	return slices.ContainsFunc(t.pending, func(p pendingText) bool { return p.dst == dst })
}

// store creates the strings and empties t for the next row.
func (t *texts) store() {
	all := string(t.arena)
	for _, p := range t.pending {
		*p.dst = all[p.start:p.end]
	}
	t.pending = t.pending[:0]
	t.arena = t.arena[:0]
}
