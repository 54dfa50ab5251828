package temporal

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/temporal"
	"golang.org/x/time/rate"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
)

// Reconciliation is what a worker needs to reconcile one shop. All fields are required.
type Reconciliation struct {
	// Config is that of the client which reads from the gateway. Its Limiter is replaced; see
	// ReconcileOptions.RequestsPerSecond.
	Config cardgateway.Config
	// Database is the URL of a Postgres database, as for cardgateway reconcile --db. The user must be allowed to create
	// schemas in it: each window that is being read has one.
	Database string
}

// reconciliation has the activities of a reconciliation.
type reconciliation struct {
	Reconciliation
	url *url.URL // of the database
}

func newReconciliation(r Reconciliation) (*reconciliation, error) {
	u, err := url.Parse(r.Database)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("temporal: Reconciliation.Database is not a postgres:// URL") // without the URL, which has a password
	}
	client, err := cardgateway.New(r.Config)
	if err != nil {
		return nil, err
	}
	client.CloseIdleConnections()
	return &reconciliation{r, u}, nil
}

// completeUpTo returns up to when the copy is complete. If it is new, that is its start.
func (r *reconciliation) completeUpTo(ctx context.Context, from time.Time) (complete time.Time, err error) {
	defer beat(ctx, nil)()
	err = r.open(ctx, r.Database, func(b *books.Books) error {
		info, err := b.Info(ctx)
		if complete = info.CompleteUpTo; info.Gateway != "" {
			return err
		}
		if complete = from.Truncate(time.Second); from.IsZero() {
			err = errors.Join(err, &books.Refused{Why: "the copy is new, and From is not set"})
		}
		return err
	})
	return complete.UTC(), err
}

// copyWindow reads a window into its schema, or continues what a worker that has ended had begun. What an earlier run of the
// workflow has left is used only if it is complete.
func (r *reconciliation) copyWindow(ctx context.Context, w span) error {
	database, err := r.makeSchema(ctx, w, "CREATE SCHEMA IF NOT EXISTS $schema")
	if err != nil {
		return err
	}
	var info books.Info
	err = r.open(ctx, database, func(b *books.Books) error {
		info, err = b.Info(ctx)
		return err
	})
	if err != nil || !info.CompleteUpTo.Before(w.End) && info.Gateway != "" {
		return err
	}
	attempt := activity.GetInfo(ctx).Attempt
	if attempt == 1 && info.Gateway != "" {
		if _, err := r.makeSchema(ctx, w, "DROP SCHEMA $schema CASCADE; CREATE SCHEMA $schema"); err != nil {
			return err
		}
	}
	// Sync reads up to the end of the second that it takes for the current one. It needs a later one each time.
	now := w.End.Add(time.Duration(2*attempt-3) * time.Second)
	return r.syncBooks(ctx, database, w, func() time.Time { return now })
}

// sync does what cardgateway reconcile sync does.
func (r *reconciliation) sync(ctx context.Context, w span) error {
	return r.syncBooks(ctx, r.Database, w, nil)
}

// syncBooks updates books up to now.
func (r *reconciliation) syncBooks(ctx context.Context, database string, w span, now func() time.Time) error {
	var progress atomic.Pointer[cardgateway.Progress]
	progress.Store(&cardgateway.Progress{})
	defer beat(ctx, func() any { return *progress.Load() })() // counts and a time
	config := r.Config
	config.Limiter = rate.NewLimiter(rate.Limit(w.RequestsPerSecond), 1)
	client, err := cardgateway.New(config)
	if err != nil {
		return refused(err)
	}
	defer client.CloseIdleConnections()
	return r.open(ctx, database, func(b *books.Books) error {
		_, err := b.Sync(ctx, books.SyncOptions{
			Client: client, From: w.Start, Now: now, Progress: func(p cardgateway.Progress) { progress.Store(&p) },
		})
		return err
	})
}

// open calls do with open books. If another worker has them open, the engine tries again.
func (r *reconciliation) open(ctx context.Context, database string, do func(*books.Books) error) error {
	b, err := books.Open(ctx, database)
	if err != nil {
		return refused(err)
	}
	return refused(errors.Join(do(b), b.Close()))
}

// refused makes the engine give up if an error stays the same however often the activity is tried.
func refused(err error) error {
	_, isRefused := errors.AsType[*books.Refused](err)
	_, isGone := errors.AsType[*books.GoneError](err)
	if isRefused || isGone || errors.Is(err, cardgateway.ErrInvalidRequest) {
		return sdk.NewNonRetryableApplicationError(err.Error(), "Refused", nil)
	}
	return err
}

// makeSchema runs a statement for the schema of a window, and returns the URL of the schema.
func (r *reconciliation) makeSchema(ctx context.Context, w span, statement string) (database string, err error) {
	var name string
	err = r.connect(ctx, func(db *pgx.Conn) error {
		if name, err = windowSchema(ctx, db, w); err != nil {
			return err
		}
		_, err = db.Exec(ctx, strings.ReplaceAll(statement, "$schema", pgx.Identifier{name}.Sanitize()))
		return err
	})
	u := *r.url
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String(), err
}

// windowSchema returns the name of the schema of a window: that of the copy, with the start of the window.
func windowSchema(ctx context.Context, db *pgx.Conn, w span) (name string, err error) {
	err = db.QueryRow(ctx, `SELECT current_schema()`).Scan(&name)
	return fmt.Sprintf("%.40s_window_%d", name, w.Start.Unix()), err
}

func (r *reconciliation) connect(ctx context.Context, do func(*pgx.Conn) error) error {
	db, err := pgx.Connect(ctx, r.Database)
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close(context.WithoutCancel(ctx)))
}

// merge moves windows that have been read into the copy, in order.
func (r *reconciliation) merge(ctx context.Context, windows []span) error {
	defer beat(ctx, nil)()
	return r.open(ctx, r.Database, func(b *books.Books) error {
		return r.connect(ctx, func(db *pgx.Conn) error {
			for _, w := range windows {
				name, err := windowSchema(ctx, db, w)
				if err != nil {
					return err
				}
				info, err := b.Info(ctx)
				if err == nil && info.Gateway != "" && !info.CompleteUpTo.Before(w.End) { // an earlier attempt, or another run, has moved it
					_, err = db.Exec(ctx, `DROP SCHEMA IF EXISTS `+pgx.Identifier{name}.Sanitize()+` CASCADE`)
				} else if err == nil {
					err = b.MoveFrom(ctx, name)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}
