package pages

import "slices"

// Dashboard is one page of the dashboard: what stands in its head, and its sections.
type Dashboard struct {
	Title  string
	Label  string // of this sandbox
	Tabs   []Tab
	Notice string // what has just been done
	Live   string // seconds after which the page is read again, if that was asked for

	Path, LivePath string // links to this page, and to it read again and again
	OpenAPI        string // link to the description

	Sections []Section
}

// Tab is a link in the head.
type Tab struct {
	Text, Link string
	Here       bool
}

// Section is a part of a page. What is empty is left out.
type Section struct {
	Heading, Text string
	Terms         []Term
	Tiles         bool // shows the terms side by side
	Pre           string
	Forms         []Form
	Table         *Table
}

// Table has a row for each thing. On a phone each row is a box of its own.
type Table struct {
	Columns []string
	Rows    [][]Cell
	Empty   string // what to say without rows
	LeftOff int    // rows that are not shown
}

// Column is the heading of column i.
func (t Table) Column(i int) string {
	if i < len(t.Columns) {
		return t.Columns[i]
	}
	return ""
}

// Cell is one value.
type Cell struct {
	Text, Link string
	Tone       string // good, bad or wait
	Mono       bool
	Forms      []Form
}

// Term is a named value.
type Term struct {
	Name string
	Cell
}

// Form is a button with what it needs.
type Form struct {
	Action, Label string
	Describe      string // what the button is for, where its label alone does not say
	Get           bool   // only looks
	Danger        bool
	Inputs        []Input
}

// Input is one field of a form.
type Input struct {
	Name, Label, Value, Placeholder string
	Hidden                          bool
	Short                           bool     // holds a few characters
	Options                         []string // makes it a list to choose from
}

// Asks reports whether somebody has to fill in something.
func (f Form) Asks() bool {
	return slices.ContainsFunc(f.Inputs, func(i Input) bool { return !i.Hidden })
}
