package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// fileLog is a file of lines, each an entry as it was after one change:
//
//	checksum (CRC-32C, 8 hex digits) SPACE synced (16 hex digits) SPACE entry as JSON LF
//
// The checksum is over all that follows it. Synced is how much of the file was known to be on the disk when the line
// was written. Damage behind the last such mark is what a power failure leaves of lines that were never promised, and
// is dropped; damage before it is a fault of the disk, and nobody should guess what it held.
type fileLog struct {
	file    *os.File
	size    int64
	synced  int64
	lines   int
	gap     bool  // there is a damaged line between whole ones
	damaged bool  // one has been read
	err     error // of read, or of a write that could not be undone
}

// span is where a line is.
type span struct {
	from   int64
	length int
}

const (
	lineHead    = 8 + 1 + 16 + 1
	longestLine = 1 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openLog opens a log, or makes one; flags are those of os.OpenFile besides.
func openLog(path string, flags int) (*fileLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &fileLog{file: f}, nil
}

// append writes an entry's line. If that fails half-way the half is cut off again; if even that fails, l.err is set
// and the file is no longer to be written.
func (l *fileLog) append(e *Entry) (span, error) {
	text, err := json.Marshal(e.json())
	if err != nil {
		return span{}, fmt.Errorf("journal: %w", err)
	}
	line := make([]byte, 0, lineHead+len(text)+1)
	line = fmt.Appendf(line, "%8s %016x ", "", l.synced)
	line = append(line, text...)
	_ = fmt.Appendf(line[:0], "%08x", crc32.Checksum(line[9:], castagnoli)) // over the spaces
	line = append(line, '\n')
	if len(line) > longestLine {
		return span{}, errors.New("journal: an entry is too long for the file")
	}
	if _, err := l.file.WriteAt(line, l.size); err != nil {
		if undo := l.file.Truncate(l.size); undo != nil {
			l.err = errors.Join(err, undo)
		}
		return span{}, fmt.Errorf("journal: %w", err)
	}
	at := span{l.size, len(line)}
	l.size += int64(len(line))
	l.lines++
	return at, nil
}

// parseLine reads a line without its LF.
func parseLine(line []byte) (e Entry, synced int64, err error) {
	var sum uint32
	if len(line) < lineHead {
		return e, 0, errDamaged
	}
	if _, err := fmt.Sscanf(string(line[:lineHead-1]), "%08x %016x", &sum, &synced); err != nil {
		return e, 0, errDamaged
	}
	if crc32.Checksum(line[9:], castagnoli) != sum {
		return e, 0, errDamaged
	}
	var w entryJSON
	if err = json.Unmarshal(line[lineHead:], &w); err == nil {
		e, err = w.entry()
	}
	if err != nil {
		return e, 0, fmt.Errorf("journal: an entry cannot be read: %w", err)
	}
	return e, synced, nil
}

var errDamaged = errors.New("journal: a line is damaged")

// read gives every entry of the file, a later line after an earlier one, and prepares for appending: what a crash
// left at the end is cut off. A line that is whole behind one that is damaged is kept: it can have been written for good
// before the other was damaged, and an entry too many does no harm. If it fails, l.err says why.
func (l *fileLog) read(yield func(Entry, span) bool) {
	in := bufio.NewReaderSize(l.file, 1<<16)
	good, end := int64(0), int64(0) // good: of what comes before all damage
	for at := int64(0); l.err == nil; {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			l.err = fmt.Errorf("journal: %w", err)
			return
		}
		if err == io.EOF {
			break // an unfinished line, or nothing
		}
		e, synced, err := parseLine(bytes.TrimSuffix(line, []byte("\n")))
		switch {
		case err != nil && !errors.Is(err, errDamaged):
			l.err = err
		case err != nil:
			l.damaged = true
		case l.damaged && synced > good:
			l.err = fmt.Errorf("journal: the file is damaged at byte %d, which had been written for good", good)
		default:
			end = at + int64(len(line))
			if !l.damaged {
				good = end
			}
			l.lines++
			if !yield(e, span{at, len(line)}) {
				return
			}
		}
		at += int64(len(line))
	}
	if l.gap = end > good; l.err == nil {
		l.err = l.startAt(end)
	}
}

// startAt cuts the file off and makes sure that what is left is on the disk.
func (l *fileLog) startAt(size int64) error {
	if err := l.file.Truncate(size); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	l.size, l.synced = size, size
	return nil
}

func (l *fileLog) readAt(at span) (Entry, error) {
	line := make([]byte, at.length)
	if _, err := l.file.ReadAt(line, at.from); err != nil {
		return Entry{}, fmt.Errorf("journal: %w", err)
	}
	e, _, err := parseLine(bytes.TrimSuffix(line, []byte("\n")))
	return e, err
}
