package doctest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// link finds [text](target) and ![text](target).
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// targets returns the targets of a page's links within the repository: a path from root, and a heading if there is one.
func (p *page) targets() (all [][2]string) {
	for _, line := range p.lines {
		for _, found := range link.FindAllStringSubmatch(line, -1) {
			if strings.Contains(found[1], "://") || strings.HasPrefix(found[1], "mailto:") {
				continue
			}
			file, heading, _ := strings.Cut(found[1], "#")
			target := p.path
			if file != "" {
				target = path.Join(path.Dir(p.path), file)
			}
			all = append(all, [2]string{target, heading})
		}
	}
	return all
}

// TestLinks: the target of every link between pages exists, as a file and as a heading in it.
func TestLinks(t *testing.T) {
	pages := readPages(t)
	anchors := map[string][]string{}
	for i := range pages {
		anchors[pages[i].path] = pages[i].anchors()
	}
	links := 0
	for _, p := range pages {
		t.Run(p.path, func(t *testing.T) {
			for _, target := range p.targets() {
				links++
				if _, err := os.Stat(filepath.Join(root, target[0])); err != nil {
					t.Errorf("%s: got a link to %s, which does not exist", p.path, target[0])
				} else if heading := target[1]; heading != "" && !slices.Contains(anchors[target[0]], heading) {
					t.Errorf("%s: got a link to %s#%s, want one of its headings: %q", p.path, target[0], heading, anchors[target[0]])
				}
			}
		})
	}
	if links < 10 {
		t.Errorf("got %d links on %d pages, want more: they are not found", links, len(pages))
	}
}

// TestPagesAreFound: README.md has a link to every page of docs, with its title.
func TestPagesAreFound(t *testing.T) {
	pages := readPages(t)
	overview := readFile(t, "README.md")
	for _, p := range pages {
		t.Run(p.path, func(t *testing.T) {
			if want := "[" + strings.TrimPrefix(p.lines[0], "# ") + "](" + p.path + ")"; path.Dir(p.path) == "docs" && !strings.Contains(overview, want) {
				t.Errorf("README.md: got no link %s", want)
			}
		})
	}
}
