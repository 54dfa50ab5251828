package walk

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// Saved is a checkpoint as a program stores it, with what is needed to resume the same walk. The zero value is the
// beginning of a walk.
type Saved struct {
	Query      string // see HashQuery
	At         Checkpoint
	Start, End time.Time // as given by the caller
}

// savedJSON is the JSON format of a Saved.
type savedJSON struct {
	Version      int       `json:"version"`
	Query        string    `json:"query"`
	Block        string    `json:"block"`
	Next         string    `json:"next"`
	Counted      int       `json:"counted"`
	Boundary     string    `json:"edge,omitempty"` // 16 hexadecimal digits for each id
	CompleteUpTo time.Time `json:"completeUpTo"`

	Unreadable *UnreadableRows `json:"unreadable,omitempty"`
	Start      time.Time       `json:"start"`
	End        time.Time       `json:"end"`
}

const savedVersion = 1

// IsZero reports whether s is the beginning of a walk.
func (s Saved) IsZero() bool { return s.Query == "" }

// MarshalJSON returns null for the zero value.
func (s Saved) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	boundary := make([]byte, 0, 8*len(s.At.Boundary))
	for _, id := range s.At.Boundary {
		boundary = binary.BigEndian.AppendUint64(boundary, id)
	}
	var unreadable *UnreadableRows
	if s.At.Unreadable.Count > 0 {
		unreadable = &s.At.Unreadable
	}
	return json.Marshal(savedJSON{
		Unreadable: unreadable,
		Version:    savedVersion, Query: s.Query, Block: s.At.Block.String(), Next: s.At.Next.String(), Counted: s.At.Counted,
		Boundary: hex.EncodeToString(boundary), CompleteUpTo: writable(s.At.CompleteUpTo),
		Start: writable(s.Start), End: writable(s.End),
	})
}

// writable returns the same instant in a zone that JSON can write. The offset of a zone has seconds before its clocks were
// standardized, and RFC 3339 has only minutes.
func writable(t time.Time) time.Time {
	if _, offset := t.Zone(); offset%60 != 0 {
		return t.UTC()
	}
	return t
}

var errSaved = errors.New("not a checkpoint of a walk")

// UnmarshalJSON reads what MarshalJSON wrote. The error does not quote its input.
func (s *Saved) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*s = Saved{}
		return nil
	}
	var in savedJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return errSaved
	}
	boundary, err := hex.DecodeString(in.Boundary)
	block, hasBlock := civil.Parse(in.Block)
	next, hasNext := civil.Parse(in.Next)
	switch {
	case in.Version != savedVersion:
		return fmt.Errorf("%w that this version reads: version %d", errSaved, in.Version)
	case err != nil || len(boundary)%8 != 0 || in.Query == "" || !hasBlock || !hasNext || block > next || in.Counted < 0,
		in.Start.IsZero() || in.End.IsZero(), in.Unreadable != nil && len(in.Unreadable.First) > min(in.Unreadable.Count, maxNamed),
		in.CompleteUpTo.Before(in.Start), in.CompleteUpTo.After(civil.CeilSecond(in.End)):
		return errSaved
	}
	// The zone is not known here, but none is further from UTC than that, and set back by more.
	if from, to := Cover(in.Start.Add(-maxSetBack), in.End.Add(maxSetBack), time.UTC); block < from || next > to {
		return errSaved
	}
	*s = Saved{Query: in.Query, Start: in.Start, End: in.End, At: Checkpoint{
		Block: block, Next: next, Counted: in.Counted, CompleteUpTo: in.CompleteUpTo,
	}}
	if in.Unreadable != nil {
		s.At.Unreadable = *in.Unreadable
	}
	for ; len(boundary) > 0; boundary = boundary[8:] {
		s.At.Boundary = append(s.At.Boundary, binary.BigEndian.Uint64(boundary))
	}
	return nil
}

// IsWithin reports whether the position is within the range, on a clock in loc.
func (s Saved) IsWithin(loc *time.Location) bool {
	from, to := Cover(s.Start, s.End, loc)
	return from <= s.At.Block && s.At.Next <= to
}

// HashQuery returns a hash of everything that determines which rows a walk yields: the operation, the range on the
// gateway's clock, and the ids of the query, including empty ones. Bounds count in whole seconds, as they are sent, so a
// database may truncate nanoseconds.
func HashQuery(op string, start, end time.Time, loc *time.Location, ids []string) string {
	var b strings.Builder
	end = civil.CeilSecond(end)
	fmt.Fprintf(&b, "%s %d %d %s %v %v", op, start.Unix(), end.Unix(), loc, civil.Of(start, loc), civil.Of(end, loc))
	for _, id := range ids {
		fmt.Fprintf(&b, " %q", id)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:16])
}
