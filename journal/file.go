package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// FileStore is a Store in one directory, for one process at a time. Entries that are not acknowledged are held in
// memory, of the others only where in the file they are.
//
// Every change appends one line with the whole entry and a checksum; see filelog.go. A line that a crash left
// unfinished is dropped when the store is opened. Superseded lines are dropped then too, if they are most of the
// file; acknowledged entries are kept until Forget, since they are what keeps a transactionId from being paid twice.
//
// If syncing fails, or a write that failed cannot be undone, the store refuses everything from then on: what the disk
// holds is not known any more. Open it again.
type FileStore struct {
	dir     string
	release func() error

	mu      sync.Mutex // guards the following
	log     *fileLog
	entries map[string]*filed
	broken  error // set once a write has failed, or by Close
	pending *time.Timer

	syncing sync.Mutex // held by the one who syncs; the others find their lines synced when they get it
}

// filed is where an entry is.
type filed struct {
	at    span
	entry *Entry // nil if acknowledged
}

const (
	logName  = "journal.log"
	lockName = "lock"
	// syncSoon is how long evidence that the gateway can be asked for again may wait for a sync.
	syncSoon = 50 * time.Millisecond
)

var errClosed = errors.New("journal: the store is closed")

// NewFileStore opens the store in dir, which is created if it is not there (0700; its files 0600). It fails if another
// process has it open, and if the file is damaged anywhere but at its end. Close it after use.
func NewFileStore(dir string) (*FileStore, error) {
	if dir == "" {
		return nil, errors.New("journal: NewFileStore needs a directory")
	}
	dir = filepath.Clean(dir)
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	release, err := lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("journal: %s cannot be locked; most likely another process has it: %w", dir, err)
	}
	s := &FileStore{dir: dir, release: release}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, release())
	}
	return s, nil
}

// makeDir makes a directory and those above it that are not there, and makes their names durable.
func makeDir(dir string) error {
	above := filepath.Dir(dir)
	if _, err := os.Stat(dir); err == nil || above == dir {
		return os.MkdirAll(dir, 0o700) // which says so if it is no directory
	}
	if err := makeDir(above); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := syncDir(above); !errors.Is(err, os.ErrPermission) { // one that cannot be read cannot be synced either
		return err
	}
	return nil
}

func (s *FileStore) open() error {
	path := filepath.Join(s.dir, logName)
	l, err := openLog(path, 0)
	if err != nil {
		return err
	}
	s.log, s.entries = l, make(map[string]*filed)
	for e, at := range l.read {
		id := e.TransactionID()
		if l.damaged && s.knowsMore(id, &e) {
			continue // an old block that has come back
		}
		s.entries[id] = fileOf(e, at)
	}
	if l.err == nil && (l.gap || l.lines > 2*len(s.entries)+1000) {
		return s.compact(func(*Entry) bool { return true })
	}
	if l.err != nil {
		return errors.Join(l.err, l.file.Close())
	}
	return syncDir(s.dir)
}

// knowsMore reports whether an earlier line has more of an entry. Lines only grow.
func (s *FileStore) knowsMore(id string, e *Entry) bool {
	f := s.entries[id]
	if f == nil {
		return false
	}
	known, err := s.load(f)
	return err == nil && (len(known.Evidence) > len(e.Evidence) || known.Acked > e.Acked)
}

func fileOf(e Entry, at span) *filed {
	if e.Unacked() {
		return &filed{at, &e}
	}
	return &filed{at, nil}
}

// Begin implements Store.
func (s *FileStore) Begin(ctx context.Context, in Intent) (Entry, bool, error) {
	s.mu.Lock()
	if err := s.usable(ctx); err != nil {
		s.mu.Unlock()
		return Entry{}, false, err
	}
	if f := s.entries[in.TransactionID]; f != nil {
		defer s.mu.Unlock()
		e, err := s.load(f)
		return e, false, err
	}
	e := newEntry(in)
	written, err := s.write(e)
	s.mu.Unlock()
	if err == nil {
		err = s.sync(written)
	}
	return e, err == nil, err
}

// Get implements Store.
func (s *FileStore) Get(ctx context.Context, transactionID string) (Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return Entry{}, err
	}
	f := s.entries[transactionID]
	if f == nil {
		return Entry{}, ErrNoEntry
	}
	return s.load(f)
}

// Record implements Store.
func (s *FileStore) Record(ctx context.Context, transactionID string, version int, ev Evidence) error {
	return s.change(ctx, transactionID, !ev.CanBeAskedAgain(), func(e *Entry) (bool, error) {
		err := e.record(version, ev)
		return err == nil, err
	})
}

// Ack implements Store. Losing it in a power failure would only mean to be told again.
func (s *FileStore) Ack(ctx context.Context, transactionID string, version int) error {
	return s.change(ctx, transactionID, false, func(e *Entry) (bool, error) { return e.ack(version) })
}

func (s *FileStore) change(ctx context.Context, transactionID string, durable bool, do func(*Entry) (bool, error)) error {
	written, err := s.apply(ctx, transactionID, do)
	switch {
	case err != nil || written == 0:
		return err
	case durable:
		return s.sync(written)
	}
	s.lazily()
	return nil
}

// apply changes an entry and writes it, and returns the length of the file then, or zero if nothing had to change.
func (s *FileStore) apply(ctx context.Context, transactionID string, do func(*Entry) (bool, error)) (written int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	f := s.entries[transactionID]
	if f == nil {
		return 0, ErrNoEntry
	}
	e, err := s.load(f)
	if err != nil {
		return 0, err
	}
	if changed, err := do(&e); err != nil || !changed {
		return 0, err
	}
	return s.write(e)
}

// Unacked implements Store.
func (s *FileStore) Unacked(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		all, err := s.unacked(ctx)
		for _, e := range all {
			if err = ctx.Err(); err != nil || !yield(e, nil) {
				break
			}
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

func (s *FileStore) unacked(ctx context.Context) (all []Entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	for _, f := range s.entries {
		if f.entry != nil {
			all = append(all, f.entry.snapshot())
		}
	}
	slices.SortFunc(all, byAge)
	return all, nil
}

// Forget drops acknowledged payments that began before the given time, and superseded lines. A forgotten
// transactionId can be paid again, so keep them for longer than any job of yours could repeat a call; it refuses a
// time within the last 24 hours.
func (s *FileStore) Forget(ctx context.Context, before time.Time) error {
	if err := tooRecent(before); err != nil {
		return err
	}
	s.syncing.Lock()
	defer s.syncing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	return s.compact(func(e *Entry) bool { return e.Unacked() || !e.Begun.At.Before(before) })
}

// Close syncs the file and releases the directory.
func (s *FileStore) Close() error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == errClosed {
		return nil
	}
	s.broken = errClosed
	if s.pending != nil {
		s.pending.Stop()
	}
	return errors.Join(s.log.file.Sync(), s.log.file.Close(), s.release())
}

// load returns an entry, from the file if it is not in memory.
func (s *FileStore) load(f *filed) (Entry, error) {
	if f.entry != nil {
		return f.entry.snapshot(), nil
	}
	return s.log.readAt(f.at)
}

func (s *FileStore) usable(ctx context.Context) error {
	if s.broken != nil {
		return s.broken
	}
	return ctx.Err()
}
