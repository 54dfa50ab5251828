package books

import (
	"context"
	"database/sql"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

const (
	rereadAlways = 48 * time.Hour      // how much of the past every run reads again
	rereadDaily  = 28 * 24 * time.Hour // and how much one run a day does
	day          = 24 * time.Hour
	askFor       = 180 * 24 * time.Hour // how long a row that is open is asked for again

	batchSize = 5000            // rows that one transaction of the database saves
	batchTime = 5 * time.Second // and fewer after so long: a slow gateway's rows are not to be lost
)

// SyncOptions configure Sync.
type SyncOptions struct {
	Client     *cardgateway.Client
	From       time.Time        // where new books begin; zero for old ones
	Again      time.Duration    // how much of the past is read again, if that is more than what every run does
	AcceptGone bool             // rows that the gateway does not show any more are deleted, however many
	Now        func() time.Time // nil means time.Now

	// Begin is called before what takes a while: reading orders or refunds, and from where on. Progress is called during
	// it. Both may be nil.
	Begin    func(what string, from time.Time)
	Progress func(cardgateway.Progress)
}

// SyncReport says what Sync has found; also that which ended with an error.
type SyncReport struct {
	Read    int // rows that the gateway returned
	Changed int // rows that were not as they had been copied
	Late    int // rows that came after their time had been copied
	Gone    int // rows that were deleted, because the gateway no longer returns them
}

// syncer is one run.
type syncer struct {
	*Books
	SyncOptions
	copied copyOf
	report SyncReport
}

// keep saves a batch, and what goes with it, in one transaction. It does so even if ctx has ended: a batch is short.
func (s *syncer) keep(ctx context.Context, t *table, batch []record, complete time.Time, with func(context.Context, *sql.Tx) error) error {
	ctx = context.WithoutCancel(ctx)
	var found changes
	err := s.change(ctx, func(tx *sql.Tx) (err error) {
		if found, err = s.save(ctx, tx, t, batch, micro(complete), s.Now()); err != nil {
			return err
		}
		return with(ctx, tx)
	})
	if err == nil {
		s.report.Read += len(batch)
		s.report.Changed += found.rows
		s.report.Late += found.late
	}
	return err
}

// rows are one kind of what the gateway lists.
type rows[T any] struct {
	table  *table
	open   string // the condition for rows that are not at their end
	walk   func(start, end time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[T]
	record func(row *T, zone *time.Location, walk int64) record
}

// isDue reports whether what is done once a day is due. An hour less than a day lets a daily job run a bit earlier.
func isDue(last, now time.Time) bool { return now.Sub(last) >= day-time.Hour || now.Before(last) }
