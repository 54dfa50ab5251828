package doctest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// root is the directory of the repository.
const root = "../.."

// page is one Markdown page.
type page struct {
	path     string // from root, with slashes
	lines    []string
	snippets []snippet
}

// snippet is the inside of a fenced block.
type snippet struct {
	page     string
	line     int    // of the page, on which it begins
	language string // of the fence
	text     string
}

// readPages reads every Markdown page of the repository.
func readPages(t *testing.T) (pages []page) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root && d.Name() != ".github" || filepath.Dir(path) == filepath.Join(root, "site")) { // generated pages
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		pages = append(pages, parsePage(filepath.ToSlash(name), string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// parsePage extracts the fenced blocks of a page. Their lines are empty in the returned page.
func parsePage(path, text string) page {
	p := page{path: path}
	var open *snippet
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			open = &snippet{page: path, line: i + 2, language: fence}
		case isFence:
			p.snippets = append(p.snippets, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		default:
			p.lines = append(p.lines, line)
			continue
		}
		p.lines = append(p.lines, "")
	}
	return p
}

// TestPagesAreFew: README.md and the pages of docs have few words, those of code and tables included.
func TestPagesAreFew(t *testing.T) {
	pages, words := 0, 0
	for _, p := range readPages(t) {
		n := len(strings.Fields(readFile(t, p.path)))
		if p.path == "README.md" && n > 900 {
			t.Errorf("%s: got %d words, want at most 900", p.path, n)
		}
		if path.Dir(p.path) == "docs" {
			pages++
			words += n
		}
	}
	if pages > 12 || words > 25_000 {
		t.Errorf("got %d pages in docs with %d words, want at most 12 with 25,000", pages, words)
	}
}

// anchors returns the possible fragments of links to a page: the headings as GitHub writes them in a URL.
func (p *page) anchors() (all []string) {
	for _, line := range p.lines {
		heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		anchor := notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
		all = append(all, strings.ReplaceAll(anchor, " ", "-"))
	}
	return all
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// TestCommandsFit: a command of the documentation is broken into lines that can be read without scrolling.
func TestCommandsFit(t *testing.T) {
	const columns = 100
	commands := 0
	for _, p := range readPages(t) {
		for _, s := range p.snippets {
			for i, line := range strings.Split(s.text, "\n") {
				if isCommand := s.language == "sh" || strings.HasPrefix(line, "$ "); !isCommand {
					continue
				}
				commands++
				if n := utf8.RuneCountInString(line); n > columns {
					t.Errorf("%s:%d: got a command of %d columns, want at most %d", s.page, s.line+i, n, columns)
				}
			}
		}
	}
	if commands < 50 {
		t.Errorf("got %d commands, want more: they are not found", commands)
	}
}
