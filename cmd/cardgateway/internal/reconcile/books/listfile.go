package books

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
)

const (
	sniffed          = 512     // bytes of a file that tell its kind
	maxUnpackedBytes = 8 << 30 // bytes of a compressed list

	gzipSignature = "\x1f\x8b"
	zipSignature  = "PK\x03\x04"
)

// kinds are files of other kinds by how they begin, after blanks, and what to do with them.
var kinds = []struct{ begin, is string }{
	{zipSignature, "is a workbook or another archive in a compressed file; unpack it"}, {gzipSignature, "is compressed twice; unpack it"},
	{"\xd0\xcf\x11\xe0", "is a workbook of Excel 97 to 2003 (.xls), or one with a password; save it as .xlsx without a password, or as CSV UTF-8"},
	{"%PDF", "is a PDF; export it as CSV or .xlsx"}, {"SQLite format 3\x00", "is a SQLite database; name it with --list-dsn"},
	{"PAR1", "is Parquet; export it as CSV or .xlsx"}, {"{1:", "is a bank statement (MT940); export the payments as CSV or .xlsx"},
	{":20:", "is a bank statement (MT940); export the payments as CSV or .xlsx"}, {"OFXHEADER", "is a bank statement (OFX); export it as CSV or .xlsx"},
	{"!Type:", "is a bank statement (QIF); export it as CSV or .xlsx"}, {"{", "is JSON; export it as CSV or .xlsx"}, {"[{", "is JSON; export it as CSV or .xlsx"},
	{"<?xml", "is XML, such as a bank statement (CAMT); export the payments as CSV or .xlsx"}, {"<", "is HTML or XML, whatever its name; export it as CSV or .xlsx"},
	{"MIME-Version:", "is a web page (MHTML), whatever its name; export it as CSV or .xlsx"},
	{"ISA*", "is EDI; export it as CSV or .xlsx"}, {"UNB+", "is EDI; export it as CSV or .xlsx"},
}

// otherKind says of which kind a file is that is not CSV, or returns "".
func otherKind(head []byte) string {
	text := strings.TrimLeft(strings.TrimPrefix(string(head), byteOrder), " \t\r\n")
	if list, ok := strings.CutPrefix(text, "["); ok {
		text = "[" + strings.TrimLeft(list, " \t\r\n")
	}
	for _, kind := range kinds {
		if strings.HasPrefix(text, kind.begin) {
			return kind.is
		}
	}
	if bytes.IndexByte(head[:min(len(head), 16)], 0) >= 0 {
		return "is not a text; export it as CSV or .xlsx"
	}
	return ""
}

// openFile opens a CSV file, which can be compressed with gzip, or a workbook, whatever its name.
func openFile(path string, sum hash.Hash, choose func(titles []string) error) (_ lines, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Refused{Why: fmt.Sprintf("cannot be opened: %v", err)}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	head := make([]byte, len(zipSignature))
	n, _ := io.ReadFull(f, head) // a shorter file has less; other errors come again below
	head = head[:n]
	if string(head) == zipSignature {
		return openWorkbook(f, sum, choose)
	}
	in := io.TeeReader(io.MultiReader(bytes.NewReader(head), f), sum)
	if bytes.HasPrefix(head, []byte(gzipSignature)) {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, &Refused{Why: fmt.Sprintf("cannot be unpacked: %v", err)}
		}
		in = &limited{unpacked, maxUnpackedBytes}
	}
	r, err := newCSV(in, choose)
	if err != nil {
		return nil, err
	}
	r.file = f
	return r, nil
}

// limited reads at most a number of bytes. More are an error, never a cut.
type limited struct {
	io.ReadCloser
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLarge
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

var errTooLarge = errors.New("it is larger than a list can be when it is unpacked")
