package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// How a FileStore gets its lines onto the disk. Callers that need a sync at the same time share one.

// write appends an entry's line and returns the length of the file then. The caller holds s.mu.
func (s *FileStore) write(e Entry) (written int64, err error) {
	at, err := s.log.append(&e)
	if err != nil {
		if s.log.err != nil {
			_ = s.fail(s.log.err) // err says what happened to this entry
		}
		return 0, err
	}
	s.entries[e.TransactionID()] = fileOf(e, at)
	return s.log.size, nil
}

// sync returns once the file is durable up to the given length.
func (s *FileStore) sync(length int64) error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	s.mu.Lock()
	l, size, broken := s.log, s.log.size, s.broken
	s.mu.Unlock()
	if l.synced >= length {
		return nil
	}
	if broken != nil {
		return broken
	}
	err := l.file.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil { // what is on the disk now is anybody's guess, also after another sync that succeeds
		return s.fail(err)
	}
	l.synced = size
	return nil
}

// fail has the store refuse everything from now on, and returns err for the caller who met it. The caller holds s.mu.
func (s *FileStore) fail(err error) error {
	s.broken = fmt.Errorf("journal: the store failed before: %w", err)
	return fmt.Errorf("journal: %w", err)
}

// lazily has the file synced within syncSoon.
func (s *FileStore) lazily() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending != nil || s.broken != nil {
		return
	}
	s.pending = time.AfterFunc(syncSoon, func() {
		s.mu.Lock()
		s.pending = nil
		size := s.log.size
		s.mu.Unlock()
		_ = s.sync(size) // a failure breaks the store, and the next caller hears of it
	})
}

// compact rewrites the file with one line for each entry that is to be kept, under another name first, so that a
// crash leaves either the old file or the new one. The caller holds s.mu, or is alone.
func (s *FileStore) compact(keep func(*Entry) bool) error {
	path := filepath.Join(s.dir, logName)
	fresh, err := openLog(path+".new", os.O_TRUNC)
	if err != nil {
		return err
	}
	entries := make(map[string]*filed, len(s.entries))
	for id, f := range s.entries {
		e, err := s.load(f)
		if err == nil && !keep(&e) {
			continue
		}
		var at span
		if err == nil {
			at, err = fresh.append(&e)
		}
		if err != nil {
			return errors.Join(err, fresh.file.Close(), os.Remove(path+".new"))
		}
		entries[id] = fileOf(e, at)
	}
	err = fresh.file.Sync()
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return errors.Join(err, fresh.file.Close())
	}
	fresh.synced = fresh.size
	_ = s.log.file.Close() // nothing in it is needed any more
	s.log, s.entries = fresh, entries
	if err := syncDir(s.dir); err != nil { // a power failure could bring the old file back, without what follows
		return s.fail(err)
	}
	return nil
}
