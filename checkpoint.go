package cardgateway

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

// Checkpoint is where a walk stands: how far it has given rows, what it must still count again, and a hash of the
// query. It becomes JSON and comes back with encoding/json; what is inside may change between versions of this
// package, which read older ones. It holds no row and no id, only hashes of ids. The zero value is the beginning.
//
// Set as WalkOptions.Resume, it continues the walk of the same query: keep Start and End with it, best as whole seconds,
// which every database keeps. No row is missed; some can be given again, those of the window that was being given above
// all, and with another Window those of its whole month: store rows under their id.
type Checkpoint struct {
	query        string    // hash of what is asked for
	month        int64     // wall-clock second at which the month being read begins
	next         int64     // wall-clock second from which on nothing has been given for good
	counted      int       // distinct rows from month to next
	edge         []uint64  // ids of rows that a query from next on brings again
	completeUpTo time.Time // see WalkReport
}

// checkpointJSON is the form of a Checkpoint outside.
type checkpointJSON struct {
	Version      int       `json:"version"`
	Query        string    `json:"query"`
	Month        WallTime  `json:"month"`
	Next         WallTime  `json:"next"`
	Counted      int       `json:"counted"`
	Edge         string    `json:"edge,omitempty"` // 16 hexadecimal digits for each id
	CompleteUpTo time.Time `json:"completeUpTo"`
}

const checkpointVersion = 1

// IsZero reports whether the checkpoint is the beginning of a walk.
func (c Checkpoint) IsZero() bool { return c.query == "" }

// CompleteUpTo is WalkReport.CompleteUpTo at the time of the checkpoint.
func (c Checkpoint) CompleteUpTo() time.Time { return c.completeUpTo }

// MarshalJSON returns null for the zero Checkpoint.
func (c Checkpoint) MarshalJSON() ([]byte, error) {
	if c.IsZero() {
		return []byte("null"), nil
	}
	edge := make([]byte, 0, 8*len(c.edge))
	for _, id := range c.edge {
		edge = binary.BigEndian.AppendUint64(edge, id)
	}
	return json.Marshal(checkpointJSON{
		Version: checkpointVersion, Query: c.query, Month: wallSecond(c.month), Next: wallSecond(c.next),
		Counted: c.counted, Edge: hex.EncodeToString(edge), CompleteUpTo: c.completeUpTo,
	})
}

var errCheckpoint = errors.New("cardgateway: not a checkpoint of a walk")

// UnmarshalJSON reads what MarshalJSON wrote. The error does not quote its input.
func (c *Checkpoint) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*c = Checkpoint{}
		return nil
	}
	var in checkpointJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return errCheckpoint
	}
	edge, err := hex.DecodeString(in.Edge)
	if err != nil || len(edge)%8 != 0 || in.Query == "" || in.Month.IsZero() || in.Next.IsZero() ||
		in.Month.Compare(in.Next) > 0 || in.Counted < 0 {
		return errCheckpoint
	}
	if in.Version != checkpointVersion {
		return fmt.Errorf("%w that this version reads: version %d", errCheckpoint, in.Version)
	}
	*c = Checkpoint{
		query: in.Query, month: in.Month.seconds, next: in.Next.seconds,
		counted: in.Counted, completeUpTo: in.CompleteUpTo,
	}
	for ; len(edge) > 0; edge = edge[8:] {
		c.edge = append(c.edge, binary.BigEndian.Uint64(edge))
	}
	return nil
}

// hashQuery makes one text of everything that decides which rows a walk gives. Of the bounds these are the whole
// seconds, as they are sent, so that a database may cut nanoseconds off.
func hashQuery(op string, start, end time.Time, loc *time.Location, ids ...string) string {
	var b strings.Builder
	end = civil.CeilSecond(end)
	fmt.Fprintf(&b, "%s %d %d %s %v %v", op, start.Unix(), end.Unix(), loc, wallTimeOf(start, loc), wallTimeOf(end, loc))
	for _, id := range ids {
		fmt.Fprintf(&b, " %q", id)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:16])
}
