package books

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	longestLine  = 1 << 20 // bytes of one line of a list
	longestCell  = 100     // further lines of a row with line breaks in quotation marks
	mostColumns  = 1000
	separators   = ",;\t|"
	byteOrder    = "\xef\xbb\xbf" // UTF-8 byte order mark
	utf16Little  = "\xff\xfe"
	utf16Big     = "\xfe\xff"
	zipSignature = "PK\x03\x04" // of spreadsheet workbooks
)

// separatorLine is what spreadsheet programs write before the titles. The separator is found without it.
var separatorLine = regexp.MustCompile("^(?i:sep)=[" + separators + "]$")

// csvFile is a list in a file.
type csvFile struct {
	*csvReader
	file *os.File
	hash hash.Hash
}

func openCSV(path string, choose func(titles []string) error) (lines, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Refused{Why: fmt.Sprintf("cannot be opened: %v", err)}
	}
	c := &csvFile{file: f, hash: sha256.New()}
	if c.csvReader, err = newCSV(io.TeeReader(f, c.hash), choose); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

func (c *csvFile) sum() hash.Hash { return c.hash }
func (c *csvFile) close() error   { return c.file.Close() }

// csvReader reads a CSV list line by line. After an invalid line it continues with the next one.
type csvReader struct {
	in        *bufio.Reader
	line      int      // number of the last line that was read
	ahead     []string // lines that were read, but not returned yet
	separator rune
}

// badLine is the error for an invalid line.
type badLine struct {
	line int
	why  string
}

func (b *badLine) Error() string { return fmt.Sprintf("line %d %s", b.line, b.why) }

// newCSV reads the titles. The separator is the first one, starting with the most frequent, for which choose accepts the
// titles.
func newCSV(in io.Reader, choose func(titles []string) error) (*csvReader, error) {
	r := &csvReader{in: bufio.NewReaderSize(in, 64<<10)}
	head, _ := r.in.Peek(4) // a shorter file has none of these
	switch {
	case bytes.HasPrefix(head, []byte(byteOrder)):
		_, _ = r.in.Discard(len(byteOrder)) // they are in the buffer
	case bytes.HasPrefix(head, []byte(utf16Little)), bytes.HasPrefix(head, []byte(utf16Big)):
		return nil, &Refused{Why: "is UTF-16; save it as CSV UTF-8"}
	case bytes.HasPrefix(head, []byte(zipSignature)):
		return nil, &Refused{Why: "is a spreadsheet workbook, or another archive; save it as CSV UTF-8"}
	}
	var text string
	for {
		record, err := r.text()
		if errors.Is(err, io.EOF) {
			return nil, &Refused{Why: "is empty; its first line must contain the column names"}
		}
		if err != nil {
			return nil, r.asRefused(err)
		}
		if text = record; strings.TrimSpace(text) != "" && !separatorLine.MatchString(text) {
			break
		}
	}
	if strings.Contains(text, "\r") {
		return nil, &Refused{Why: "has lines that end with a carriage return, as old spreadsheet programs write them; save it as CSV UTF-8"}
	}
	if !utf8.ValidString(text) {
		return nil, &Refused{Why: fmt.Sprintf("is not UTF-8 (line %d); save it as CSV UTF-8", r.line)}
	}
	candidates := []rune(separators)
	slices.SortStableFunc(candidates, func(a, b rune) int {
		return strings.Count(text, string(b)) - strings.Count(text, string(a))
	})
	var first error
	for _, r.separator = range candidates {
		titles, err := r.split(text)
		if err == nil && len(titles) > mostColumns {
			err = fmt.Errorf("has more than %d columns", mostColumns)
		}
		if err == nil {
			err = choose(titles)
		}
		if err == nil {
			return r, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, r.asRefused(first)
}

// ReadCSV calls do for every row of a CSV text. It accepts what a list may be: the separators, a byte order mark, CRLF, quotation
// marks and empty lines. An invalid line ends it with an error. Choose receives the titles, and rejects those that are wrong.
func ReadCSV(in io.Reader, choose func(titles []string) error, do func(line int, cells []string) error) error {
	r, err := newCSV(in, choose)
	if err != nil {
		return err
	}
	for {
		line, cells, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(line, cells)
		}
		if err != nil {
			return err
		}
	}
}

func (r *csvReader) asRefused(err error) error {
	if refused, ok := errors.AsType[*Refused](err); ok {
		return refused
	}
	if bad, ok := errors.AsType[*badLine](err); ok {
		return &Refused{Why: bad.Error()}
	}
	return err
}

// next returns the cells of the next row, and the number of its first line. Lines without any text are skipped, as a spreadsheet writes its
// empty rows. The error is io.EOF, a *badLine, after which the next line can be read, or that of the file.
func (r *csvReader) next() (line int, cells []string, err error) {
	for {
		text, err := r.text()
		if err != nil {
			return r.line, nil, err
		}
		if strings.TrimFunc(text, func(c rune) bool { return c == r.separator || unicode.IsSpace(c) }) == "" {
			continue
		}
		if !strings.Contains(text, `"`) {
			return r.line, strings.Split(text, string(r.separator)), nil
		}
		return r.quoted(text)
	}
}

// quoted reads a row with quotation marks, which may continue on the following lines.
func (r *csvReader) quoted(text string) (line int, cells []string, err error) {
	line = r.line
	var more []string
	for all := text; ; {
		if strings.Count(all, `"`)%2 == 0 {
			if cells, err = r.split(all); err == nil {
				return line, cells, nil
			}
			break
		}
		err = errors.New("has a quotation mark that is not closed")
		if len(more) == longestCell || len(all) > longestLine {
			break
		}
		following, failed := r.text()
		if bad, ok := errors.AsType[*badLine](failed); ok {
			return line, nil, bad
		}
		if errors.Is(failed, io.EOF) {
			break
		}
		if failed != nil {
			return line, nil, failed
		}
		more = append(more, following)
		all += "\n" + following
	}
	r.ahead = append(more, r.ahead...) // only the first line is skipped
	r.line = line
	return line, nil, &badLine{line, err.Error()}
}

func (r *csvReader) split(text string) ([]string, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma, reader.FieldsPerRecord = r.separator, -1
	cells, err := reader.Read()
	if errors.Is(err, csv.ErrQuote) || errors.Is(err, csv.ErrBareQuote) {
		err = errors.New("has a quotation mark in the middle of a cell; double it, and put the cell in quotation marks")
	}
	return cells, err
}

// text returns the next line without its line break.
func (r *csvReader) text() (string, error) {
	if len(r.ahead) > 0 {
		text := r.ahead[0]
		r.ahead = r.ahead[1:]
		r.line++
		return text, nil
	}
	var line []byte
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(part) > longestLine {
			tooLong = true
		}
		if !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !tooLong) {
			return "", err
		}
		break
	}
	r.line++
	if tooLong {
		return "", &badLine{r.line, fmt.Sprintf("is longer than %d MiB", longestLine>>20)}
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}
