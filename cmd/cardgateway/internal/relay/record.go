package relay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
)

// Recorded is one line of the --record file. It contains no secrets: see RecordBody.
type Recorded struct {
	Delivery  string    `json:"delivery"`
	At        time.Time `json:"at"`
	Event     Event     `json:"event"`
	RefusedBy string    `json:"refusedBy,omitempty"`
	Outcome   Outcome   `json:"outcome"`
	Status    int       `json:"status,omitempty"` // of the response
	MS        int64     `json:"ms"`
	To        string    `json:"to,omitempty"`   // where it was forwarded to, without a query
	Note      string    `json:"note,omitempty"` // what the lines on the terminal say

	// The members, only of confirmed notifications, because a replay signs them.
	ContentType string                     `json:"contentType,omitempty"`
	Body        map[string]json.RawMessage `json:"body,omitempty"`
	Masked      []string                   `json:"masked,omitempty"` // members of Body whose value is not recorded
}

// Bounds of a record, in bytes.
const (
	maxRecordLine = 1 << 20 // a notification has at most 64 KiB, its escapes up to six times as many
	maxRecord     = 256 << 20
)

// Name returns the name of a delivery, such as n-17.
func Name(number int) string { return "n-" + strconv.Itoa(number) }

// Number parses the name of a delivery. It returns zero if the name is invalid.
func Number(name string) int {
	digits, ok := strings.CutPrefix(name, "n-")
	number, err := strconv.Atoi(digits)
	if !ok || err != nil || number <= 0 || name != Name(number) {
		return 0
	}
	return number
}

// errNoEnd means that a file consists of one line without an end: it may be any file.
var errNoEnd = errors.New("the last line has no end")

// Reader reads a record, line by line.
type Reader struct {
	in   *bufio.Reader
	line int
	good int64 // bytes up to the end of the last whole line
}

// NewReader reads from in.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 64<<10)}
}

// All returns the deliveries, and an error as the last one if there is one. A last line without an end is left out: it may still be
// written, or the machine has failed. Other errors name the line and quote nothing.
func (r *Reader) All() iter.Seq2[*Recorded, error] {
	return func(yield func(*Recorded, error) bool) {
		for {
			d, err := r.next()
			if errors.Is(err, io.EOF) || !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// next returns the next delivery, or io.EOF at the end.
func (r *Reader) next() (*Recorded, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxRecordLine {
			return nil, fmt.Errorf("line %d has more than %d MiB", r.line+1, maxRecordLine>>20)
		}
		if err == nil {
			break
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (len(line) == 0 || r.line > 0):
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, errNoEnd
		default:
			return nil, err
		}
	}
	r.line++
	var d Recorded
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil || decoder.More() || Number(d.Delivery) == 0 || !utf8.Valid(line) {
		return nil, fmt.Errorf("line %d is not a line of a record", r.line)
	}
	r.good += int64(len(line))
	return &d, nil
}

// Recorder appends to a record.
type Recorder struct {
	mu   sync.Mutex
	file *os.File
	size int64
	err  error // why it records nothing more
}

// OpenRecord opens a record to append to, and returns the number of the last delivery in it. Only the user can read it.
func OpenRecord(path string) (_ *Recorder, last int, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, exit.Fail(exit.Failed, "--record cannot be written: %v", err)
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, 0, exit.Fail(exit.Failed, "--record %s is not a regular file", path)
	}
	r := NewReader(file)
	for d, err := range r.All() {
		if err != nil {
			return nil, 0, exit.Fail(exit.Failed, "--record %s is not a record of this program: %v. Choose another file", path, err)
		}
		last = max(last, Number(d.Delivery))
	}
	if err := errors.Join(file.Chmod(0o600), file.Truncate(r.good)); err != nil {
		return nil, 0, exit.Fail(exit.Failed, "--record cannot be written: %v", err)
	}
	return &Recorder{file: file, size: r.good}, last, nil
}

// Write appends a delivery. The first error is returned, once; after it nothing is recorded.
func (r *Recorder) Write(d *Recorded) error {
	line, err := json.Marshal(d)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil
	}
	if r.size+int64(len(line)) > maxRecord {
		r.err = fmt.Errorf("it has %d MiB", maxRecord>>20)
		return r.err
	}
	_, r.err = r.file.Write(line)
	r.size += int64(len(line))
	return r.err
}

// Close returns why the record is not complete, or nil.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.file.Close(); r.err == nil {
		r.err = err
	}
	return r.err
}
