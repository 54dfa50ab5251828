package cardgateway

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/walk"
)

// Checkpoint is the position of a walk: how far it has returned rows, which totals it must still verify, and a hash of the
// query. Store it as JSON, with encoding/json or in a column of text: it is a driver.Valuer and an sql.Scanner. The format may
// change between versions of this package; newer versions read older ones. It contains no rows and no ids, only hashes of ids.
// The zero value is the beginning.
//
// Set as WalkOptions.Resume, it continues the walk of the same query. It contains the range: leave Start and End of the
// query zero, or set both to the same values. An End that was in the future then means the same instant, which may have
// passed since. No row is missed. Some can be returned again: usually those of the window in progress, and with another
// Window those of its whole month. So store rows under their id.
type Checkpoint struct{ saved walk.Saved }

// IsZero reports whether the checkpoint is the beginning of a walk.
func (c Checkpoint) IsZero() bool { return c.saved.IsZero() }

// CompleteUpTo is WalkReport.CompleteUpTo at the time of the checkpoint.
func (c Checkpoint) CompleteUpTo() time.Time { return c.saved.At.CompleteUpTo }

// MarshalJSON returns null for the zero Checkpoint.
func (c Checkpoint) MarshalJSON() ([]byte, error) { return c.saved.MarshalJSON() }

// UnmarshalJSON reads what MarshalJSON wrote. The error does not quote its input.
func (c *Checkpoint) UnmarshalJSON(data []byte) error {
	if err := c.saved.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("cardgateway: %w", err)
	}
	return nil
}

// Value returns the JSON as text, for a statement of database/sql.
func (c Checkpoint) Value() (driver.Value, error) {
	data, err := c.MarshalJSON()
	return string(data), err
}

// Scan reads what Value returned, from a row of database/sql. NULL is the zero Checkpoint. The error does not quote its input.
func (c *Checkpoint) Scan(column any) error {
	switch stored := column.(type) {
	case nil:
		*c = Checkpoint{}
		return nil
	case string:
		return c.UnmarshalJSON([]byte(stored))
	case []byte:
		return c.UnmarshalJSON(stored)
	}
	return fmt.Errorf("cardgateway: a Checkpoint cannot be read from a %T", column)
}
