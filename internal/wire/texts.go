package wire

// texts collects the texts of one row, so that they become strings together: one allocation a row.
type texts struct {
	arena   []byte
	pending []pendingText
	scratch []byte // the last text that had escapes
}

// pendingText is a part of the arena and where its string goes.
type pendingText struct {
	dst        *string
	start, end int
}

func (t *texts) add(dst *string, text []byte) {
	start := len(t.arena)
	t.arena = append(t.arena, text...)
	t.pending = append(t.pending, pendingText{dst, start, len(t.arena)})
}

// HasPending reports whether a text for dst has been read and not stored yet.
func (r *Reader) HasPending(dst *string) bool {
	for _, p := range r.texts.pending {
		if p.dst == dst {
			return true
		}
	}
	return false
}

// StoreTexts stores the texts that have been read since the last time. Call it at the end of each row.
func (r *Reader) StoreTexts() {
	t := &r.texts
	all := string(t.arena)
	for _, p := range t.pending {
		*p.dst = all[p.start:p.end]
	}
	t.pending = t.pending[:0]
	t.arena = t.arena[:0]
}
