package books

import (
	"context"
	"database/sql"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// AskFor is the maximum age of payments and refunds that are not final and are queried again.
const AskFor = 180 * 24 * time.Hour

const (
	rereadAlways = 48 * time.Hour      // range that every run reads again
	rereadDaily  = 28 * 24 * time.Hour // range that one run a day reads again
	day          = 24 * time.Hour

	batchSize = 5000            // rows per database transaction
	batchTime = 5 * time.Second // after this time a smaller batch is saved
)

// SyncOptions configure Sync.
type SyncOptions struct {
	Client     *cardgateway.Client
	From       time.Time        // start of new books; may be zero for existing ones
	Again      time.Duration    // range that is read again, if it is longer than that of every run
	AcceptGone bool             // delete rows that the gateway no longer returns, however many
	Now        func() time.Time // nil means time.Now

	// Begin is called before each longer step, with what it reads and the start of its range; Progress is called during
	// it. Both may be nil.
	Begin    func(what string, from time.Time)
	Progress func(cardgateway.Progress)
}

// SyncReport contains the counts of a run of Sync, also after an error.
type SyncReport struct {
	Read    int // rows that the gateway returned
	Changed int // rows that differed from the copy
	Late    int // rows that appeared after their time had been copied
	Gone    int // rows that were deleted, because the gateway no longer returns them
}

// syncer is the state of one run.
type syncer struct {
	*Books
	SyncOptions
	copied copyOf
	report SyncReport
}

// keep saves a batch in one transaction, together with the changes of with. It does so even after ctx has ended.
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

// rows describes how to read and store orders or refunds.
type rows[T any] struct {
	table  *table
	open   string // SQL condition for rows that are not final
	walk   func(start, end time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[T]
	record func(row *T, zone *time.Location, walk int64) record
}

// isDue reports whether a daily task is due: after 23 hours, so that a daily job may run a bit earlier.
func isDue(last, now time.Time) bool { return now.Sub(last) >= day-time.Hour || now.Before(last) }
