package books

import (
	"archive/zip"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

const (
	maxPartBytes  = 16 << 20  // bytes of XML of a part of a workbook that is read at once
	maxTextsBytes = 512 << 20 // bytes of XML of the texts of all cells
	maxTexts      = 16 << 20
	maxSheets     = 255
)

// workbook is a list in a sheet of an .xlsx file, which is read row by row. Cells are what is stored, not what a format of the sheet shows.
// No library reads it, because as a stream excelize takes a sheet that is cut off for complete, leaves out a text that is not there, puts
// rows that are in no order together, and tells neither a text from a number nor a date from an amount, so that 1.234 has two meanings.
type workbook struct {
	file    *os.File
	texts   []string // that cells refer to
	dates   []bool   // of each style of cells, whether it shows a date or a time
	sheet   *limited
	xml     *xml.Decoder
	row     int
	titles  int    // their row
	width   int    // number of them
	numbers []bool // of the cells of the last row
}

// openWorkbook opens the one sheet that has titles which choose accepts.
func openWorkbook(f *os.File, sum hash.Hash, choose func(titles []string) error) (lines, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, &Refused{Why: "is a workbook, which cannot be read from a pipe; name its file"}
	}
	size, err := io.Copy(sum, f)
	if err != nil {
		return nil, err
	}
	parts, err := zip.NewReader(f, size)
	if err != nil {
		return nil, &Refused{Why: fmt.Sprintf("is a damaged workbook: %v", err)}
	}
	w := &workbook{file: f}
	sheets, err := w.readParts(parts)
	if err != nil {
		return nil, err
	}
	var closest error
	var list *workbookSheet
	for i := range sheets {
		err := w.openSheet(parts, sheets[i], choose)
		if err == nil {
			err = w.sheet.Close()
			if list != nil {
				return nil, errors.Join(&Refused{Why: fmt.Sprintf("has two sheets that can be the list, %q and %q; save one of them as a file of its own",
					terminal.Cut(list.Name, 40), terminal.Cut(sheets[i].Name, 40))}, err)
			}
			list = &sheets[i]
		} else if _, ok := errors.AsType[*notTitles](err); !ok {
			return nil, err
		}
		closest = cmp.Or(closest, err)
	}
	if list == nil {
		return nil, cmp.Or(closest, error(&Refused{Why: "is a workbook without cells"}))
	}
	return w, w.openSheet(parts, *list, choose)
}

// workbookSheet is a sheet in xl/workbook.xml.
type workbookSheet struct {
	Name   string `xml:"name,attr"`
	ID     string `xml:"id,attr"` // of its relationship
	target string
}

// readParts reads everything but the sheets.
func (w *workbook) readParts(parts *zip.Reader) ([]workbookSheet, error) {
	var book struct {
		Properties struct {
			From1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []workbookSheet `xml:"sheets>sheet"`
	}
	var relations struct {
		All []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	var styles struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			Format int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	for _, part := range []struct {
		name string
		into any
	}{{"xl/workbook.xml", &book}, {"xl/_rels/workbook.xml.rels", &relations}, {"xl/styles.xml", &styles}} {
		in, err := openPart(parts, part.name, maxPartBytes)
		if errors.Is(err, errNoPart) && part.into == &styles {
			continue
		}
		if errors.Is(err, errNoPart) {
			return nil, &Refused{Why: "is an archive or a workbook of another kind than .xlsx, such as .ods, .xlsb or Numbers; save it as .xlsx or CSV UTF-8"}
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(in) // to its end, where its checksum is
			err = errors.Join(err, in.Close())
		}
		if err == nil {
			err = xml.Unmarshal(text, part.into)
		}
		if err != nil {
			return nil, damaged(part.name, err)
		}
	}
	if from := book.Properties.From1904; from == "1" || from == "true" {
		return nil, &Refused{Why: "is a workbook that counts dates from 1904; save it as CSV UTF-8"}
	}
	if len(book.Sheets) > maxSheets {
		return nil, &Refused{Why: fmt.Sprintf("has more than %d sheets", maxSheets)}
	}
	for i := range book.Sheets {
		for _, relation := range relations.All {
			if relation.ID == book.Sheets[i].ID {
				book.Sheets[i].target = strings.TrimPrefix(path.Join("/xl", relation.Target), "/")
				if strings.HasPrefix(relation.Target, "/") {
					book.Sheets[i].target = relation.Target[1:]
				}
			}
		}
	}
	formats := map[int]string{}
	for _, format := range styles.Formats {
		formats[format.ID] = format.Code
	}
	for _, style := range styles.Cells {
		isDate := style.Format >= 14 && style.Format <= 22 || style.Format >= 27 && style.Format <= 36 || style.Format >= 45 && style.Format <= 47 ||
			style.Format >= 50 && style.Format <= 58
		if code, ok := formats[style.Format]; ok {
			isDate = strings.ContainsAny(notInDates.ReplaceAllString(strings.ToLower(code), ""), "dmyhs")
		}
		w.dates = append(w.dates, isDate)
	}
	return book.Sheets, w.readTexts(parts)
}

// notInDates are the parts of a number format that are texts, colours or conditions, and the word for no format.
var notInDates = regexp.MustCompile(`"[^"]*"|\\.|\[[^\]]*\]|general|_.`)

var errNoPart = errors.New("there is no such part")

// openPart opens a file in the archive, of which at most a number of bytes can be read.
func openPart(parts *zip.Reader, name string, most int64) (*limited, error) {
	for _, f := range parts.File {
		if strings.EqualFold(f.Name, name) {
			in, err := f.Open()
			if err != nil {
				return nil, err
			}
			return &limited{in, most}, nil
		}
	}
	return nil, errNoPart
}

func damaged(name string, err error) error {
	return &Refused{Why: fmt.Sprintf("is a damaged workbook: %s: %v", name, err)}
}

// readTexts reads the texts that cells refer to. Their formats and readings are left out.
func (w *workbook) readTexts(parts *zip.Reader) error {
	const name = "xl/sharedStrings.xml"
	in, err := openPart(parts, name, maxTextsBytes)
	if errors.Is(err, errNoPart) {
		return nil
	}
	if err != nil {
		return damaged(name, err)
	}
	defer func() { _ = in.Close() }() // it was read
	whole := &limited{in, maxPartBytes}
	decoder := xml.NewDecoder(whole)
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "si" {
			var item richText
			err = decoder.DecodeElement(&item, &start)
			w.texts = append(w.texts, item.String())
			if whole.left = maxPartBytes; len(w.texts) > maxTexts {
				err = errTooLarge
			}
		}
		if err != nil {
			return damaged(name, err)
		}
	}
}

// richText is a text of a cell, whose parts can have formats of their own.
type richText struct {
	Plain string   `xml:"t"`
	Parts []string `xml:"r>t"`
}

func (t *richText) String() string { return t.Plain + strings.Join(t.Parts, "") }

// openSheet opens a sheet, and reads up to its titles, which are in one of its first rows.
func (w *workbook) openSheet(parts *zip.Reader, sheet workbookSheet, choose func(titles []string) error) error {
	in, err := openPart(parts, sheet.target, maxUnpackedBytes)
	if errors.Is(err, errNoPart) { // a chart
		return &notTitles{Refused{Why: "has no sheet of cells"}}
	}
	if err != nil {
		return damaged(sheet.target, err)
	}
	w.sheet = &limited{in, maxPartBytes}
	w.xml, w.row, w.width = xml.NewDecoder(w.sheet), 0, 0
	err = findTitles(func() (int, error) {
		_, cells, err := w.next()
		if err == nil {
			err = choose(cells)
		}
		if err == nil {
			w.titles, w.width = w.row, len(cells)
		}
		return filled(cells), err
	})
	if err != nil {
		err = errors.Join(err, in.Close())
	}
	return err
}

// sheetRow is a row of a sheet.
type sheetRow struct {
	Number int `xml:"r,attr"`
	Cells  []struct {
		Reference string   `xml:"r,attr"` // such as AB12
		Type      string   `xml:"t,attr"`
		Style     int      `xml:"s,attr"`
		Formula   *string  `xml:"f"`
		Value     *string  `xml:"v"`
		Text      richText `xml:"is"`
	} `xml:"c"`
}

// next returns the cells of the next row that has any. A damaged sheet ends with an error, never as if it were complete.
func (w *workbook) next() (line int, cells []string, err error) {
	for {
		w.sheet.left = maxLineBytes // of one row
		token, err := w.xml.Token()
		if errors.Is(err, io.EOF) {
			return 0, nil, io.EOF
		}
		if err != nil {
			return 0, nil, damaged("a sheet", err)
		}
		start, ok := token.(xml.StartElement)
		if ok && start.Name.Local == "mergeCell" && w.width > 0 && w.joinsRows(start) {
			return 0, nil, &Refused{Why: "has merged cells in several rows below the titles, of which only the first has a value; fill in every row"}
		}
		if !ok || start.Name.Local != "row" {
			continue
		}
		var row sheetRow
		if err := w.xml.DecodeElement(&row, &start); err != nil {
			return 0, nil, damaged("a sheet", err)
		}
		if row.Number == 0 {
			row.Number = w.row + 1
		}
		if row.Number <= w.row {
			return 0, nil, damaged("a sheet", errors.New("its rows are in no order"))
		}
		w.row, w.numbers = row.Number, make([]bool, w.width)
		cells = make([]string, w.width)
		isEmpty := true
		for i, last := 0, -1; i < len(row.Cells); i++ {
			at := last + 1
			if row.Cells[i].Reference != "" {
				at = columnIndex(row.Cells[i].Reference)
			}
			if at <= last {
				return 0, nil, damaged("a sheet", errors.New("its cells are in no order"))
			}
			last = at
			text, isNumber, err := w.cell(&row, i)
			if err != nil {
				return 0, nil, damaged("a sheet", err)
			}
			if text == "" {
				continue
			}
			if at >= maxColumns {
				return 0, nil, &Refused{Why: fmt.Sprintf("has more than %d columns", maxColumns)}
			}
			for len(cells) <= at {
				cells, w.numbers = append(cells, ""), append(w.numbers, false)
			}
			cells[at], w.numbers[at], isEmpty = text, isNumber, false
		}
		if !isEmpty {
			return w.row, cells, nil
		}
	}
}

var mergedCells = regexp.MustCompile(`^[A-Z]+([0-9]+):[A-Z]+([0-9]+)$`)

// joinsRows reports whether merged cells such as A5:A7 are in several rows below the titles.
func (w *workbook) joinsRows(merged xml.StartElement) bool {
	return slices.ContainsFunc(merged.Attr, func(a xml.Attr) bool {
		rows := mergedCells.FindStringSubmatch(a.Value)
		if a.Name.Local != "ref" || rows == nil || rows[1] == rows[2] {
			return false
		}
		last, err := strconv.Atoi(rows[2])
		return err == nil && last > w.titles
	})
}

// columnIndex returns the index of the column of a reference, such as 27 of AB12, or -1.
func columnIndex(reference string) int {
	n := 0
	for _, r := range reference {
		if r < 'A' || r > 'Z' || n > maxColumns {
			break
		}
		n = n*26 + int(r-'A') + 1
	}
	return n - 1
}

// cell returns the text of a cell: of a date the date, of another number all of its digits that a spreadsheet shows.
func (w *workbook) cell(row *sheetRow, i int) (text string, isNumber bool, err error) {
	c := &row.Cells[i]
	if c.Value == nil || *c.Value == "" && c.Type != "s" && c.Type != "str" { // which can be an empty text
		if text = c.Text.String(); text == "" && c.Formula != nil {
			text = "#VALUE!" // it was never calculated
		}
		return text, false, nil
	}
	switch c.Type {
	case "s":
		index, err := strconv.Atoi(*c.Value)
		if err != nil || index < 0 || index >= len(w.texts) {
			return "", false, errors.New("a cell refers to a text that is not there")
		}
		return w.texts[index], false, nil
	case "e":
		return "#VALUE!", false, nil
	case "b":
		return strings.NewReplacer("0", "FALSE", "1", "TRUE").Replace(*c.Value), false, nil
	case "", "n":
		number, err := strconv.ParseFloat(*c.Value, 64)
		if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
			return *c.Value, false, nil
		}
		if c.Style >= 0 && c.Style < len(w.dates) && w.dates[c.Style] && number >= 0 && number < 2958466 { // up to the year 9999
			return serialText(number), false, nil
		}
		if number, err = strconv.ParseFloat(strconv.FormatFloat(number, 'g', 15, 64), 64); err != nil {
			return *c.Value, false, nil
		}
		if math.Abs(number) >= 1e15 {
			return strconv.FormatFloat(number, 'E', 14, 64), false, nil // its last digits are lost
		}
		return strconv.FormatFloat(number, 'f', -1, 64), true, nil
	}
	return *c.Value, false, nil // a text, or a date in ISO 8601
}

// serialText returns a date, a time of day or both as a spreadsheet stores it.
func serialText(number float64) string {
	days, part := math.Modf(number)
	at := time.Date(1899, 12, 30+int(days), 0, 0, int(math.Round(part*24*60*60)), 0, time.UTC)
	switch {
	case days == 0:
		return at.Format(time.TimeOnly)
	case part == 0:
		return at.Format(time.DateOnly)
	}
	return at.Format(time.DateTime)
}

func (w *workbook) isNumber(column int) bool { return column < len(w.numbers) && w.numbers[column] }
func (w *workbook) close() error             { return errors.Join(w.sheet.Close(), w.file.Close()) }
