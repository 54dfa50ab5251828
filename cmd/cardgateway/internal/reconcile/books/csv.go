package books

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	maxLineBytes  = 1 << 20 // bytes of one line of a list
	maxCellLines  = 100     // further lines of a row with line breaks in quotation marks
	maxColumns    = 1000
	separators    = ",;\t|"
	byteOrder     = "\xef\xbb\xbf" // UTF-8 byte order mark
	windows1252   = "Windows-1252"
	maxLinesAbove = 20 // lines above the titles
)

// separatorLine is what spreadsheet programs write before the titles. The separator is found without it.
var separatorLine = regexp.MustCompile("^(?i:sep)=[" + separators + "]$")

// csvReader reads a CSV list line by line. After an invalid line it continues with the next one.
type csvReader struct {
	file      io.Closer // of a list
	in        *bufio.Reader
	line      int      // number of the last line that was read
	ahead     []string // lines that were read, but not returned yet
	separator rune
	width     int    // number of titles
	encoding  string // of the lines; empty as long as they are ASCII
	isCut     bool   // the last line that was read has no line break
	buffer    []byte // of that line
}

func (r *csvReader) isNumber(int) bool { return false }
func (r *csvReader) close() error      { return r.file.Close() }

// badLine is the error for an invalid line.
type badLine struct {
	line int
	why  string
}

func (b *badLine) Error() string { return fmt.Sprintf("line %d %s", b.line, b.why) }

// newCSV reads up to the titles: the first line that choose accepts with one of the separators, starting with the most frequent.
func newCSV(in io.Reader, choose func(titles []string) error) (*csvReader, error) {
	r := &csvReader{in: bufio.NewReaderSize(in, 64<<10)}
	head, _ := r.in.Peek(sniffed) // a shorter file has less
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		r.encoding = "UTF-16"
		r.in = bufio.NewReaderSize(transform.NewReader(r.in, utf16.UTF16(utf16.BigEndian, utf16.ExpectBOM).NewDecoder()), 64<<10)
		head, _ = r.in.Peek(sniffed)
	}
	if bytes.HasPrefix(head, []byte(byteOrder)) {
		_, _ = r.in.Discard(len(byteOrder)) // they are in the buffer
	}
	if kind := otherKind(head); kind != "" {
		return nil, &Refused{Why: kind}
	}
	err := findTitles(func() (int, error) {
		text, err := r.text()
		for err == nil && (strings.TrimSpace(text) == "" || separatorLine.MatchString(text)) {
			text, err = r.text()
		}
		if err == nil && strings.Contains(text, "\r") {
			err = &Refused{Why: "has lines that end with a carriage return, as old spreadsheet programs write them; save it as CSV UTF-8"}
		}
		if err != nil {
			return 0, err
		}
		return r.readTitles(text, choose)
	})
	if err == nil {
		return r, nil
	}
	if bad, ok := errors.AsType[*badLine](err); ok {
		return nil, &Refused{Why: bad.Error()}
	}
	if closest, ok := errors.AsType[*notTitles](err); ok && r.encoding == windows1252 {
		closest.Why += "; its letters were read as Windows-1252: if they are wrong, save it as CSV UTF-8"
	}
	return nil, err
}

// readTitles reads a line as titles. It returns the number of those that are not empty, or -1 for a line that is not CSV.
func (r *csvReader) readTitles(text string, choose func(titles []string) error) (most int, first error) {
	candidates := []rune(separators)
	slices.SortStableFunc(candidates, func(a, b rune) int {
		return strings.Count(text, string(b)) - strings.Count(text, string(a))
	})
	most, first = -1, &notTitles{}
	for _, r.separator = range candidates {
		titles, err := r.split(text)
		if err != nil {
			continue
		}
		if r.width = len(titles); r.width > maxColumns {
			err = &Refused{Why: fmt.Sprintf("has more than %d columns", maxColumns)}
		} else if err = choose(titles); err == nil {
			return r.width, nil
		}
		n := filled(titles)
		if _, ok := errors.AsType[*notTitles](err); most < 0 || !ok && n > most {
			most, first = n, err
		}
	}
	return most, first
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
		if line, cells = r.line, nil; strings.Contains(text, `"`) {
			line, cells, err = r.quoted(text)
		} else {
			cells = strings.Split(text, string(r.separator))
		}
		if err == nil && r.isCut && len(cells) < r.width { // a spreadsheet leaves out empty cells, but ends the line
			return line, nil, &badLine{line, "is cut off: it has fewer cells than there are titles, and no line break"}
		}
		return line, cells, err
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
		if len(more) == maxCellLines || len(all) > maxLineBytes {
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
		if inside, _, _ := strings.Cut(following, `"`); r.width > 1 && strings.Count(inside, string(r.separator)) >= r.width-1 {
			break // this is a row, and not the text of a cell
		}
	}
	r.ahead = append(more, r.ahead...) // only the first line is skipped
	r.line = line
	return line, nil, &badLine{line, err.Error()}
}

func (r *csvReader) split(text string) ([]string, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma, reader.FieldsPerRecord, reader.TrimLeadingSpace = r.separator, -1, r.separator != '\t'
	cells, err := reader.Read()
	if plain := r.withoutFormulas(text); errors.Is(err, csv.ErrBareQuote) && plain != text {
		return r.split(plain)
	}
	if errors.Is(err, csv.ErrQuote) || errors.Is(err, csv.ErrBareQuote) {
		err = errors.New("has a quotation mark in the middle of a cell; double it, and put the cell in quotation marks")
	}
	return cells, err
}

// withoutFormulas replaces cells such as ="123", with which a spreadsheet is told that 123 is a text.
func (r *csvReader) withoutFormulas(text string) string {
	separator := string(r.separator)
	return strings.TrimPrefix(strings.ReplaceAll(separator+text, separator+`="`, separator+`"`), separator)
}

// text returns the next line without its line break.
func (r *csvReader) text() (string, error) {
	if len(r.ahead) > 0 {
		text := r.ahead[0]
		r.ahead = r.ahead[1:]
		r.line++
		return text, nil
	}
	line, tooLong := r.buffer[:0], false
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(part) > maxLineBytes {
			tooLong = true
		}
		if !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", &Refused{Why: fmt.Sprintf("cannot be read to its end: %v", err)}
		}
		if err != nil && len(line) == 0 && !tooLong {
			return "", err
		}
		break
	}
	r.line++
	r.buffer, r.isCut = line, !bytes.HasSuffix(line, []byte("\n"))
	if tooLong {
		return "", &badLine{r.line, fmt.Sprintf("is longer than %d MiB", maxLineBytes>>20)}
	}
	return r.decode(strings.TrimRight(string(line), "\r\n")), nil
}

// decode returns a line in UTF-8. The first line that is not ASCII tells whether all are UTF-8 or, as those of many spreadsheets, in
// Windows-1252, which has the letters of Latin-1. What is in neither has U+FFFD, which no id may have.
func (r *csvReader) decode(text string) string {
	if r.encoding == "" && !utf8.ValidString(text) {
		r.encoding = windows1252
	} else if r.encoding == "" && strings.ContainsFunc(text, func(c rune) bool { return c > unicode.MaxASCII }) {
		r.encoding = "UTF-8"
	}
	if r.encoding == windows1252 {
		text, _ = charmap.Windows1252.NewDecoder().String(text) // it has no errors
	}
	return text
}
