package pages

// Dashboard is one page of the dashboard: its header and its sections.
type Dashboard struct {
	Title  string
	Label  string // of this sandbox
	Tabs   []Tab
	Notice string // result of the action before

	Sections []Section
}

// Tab is a link in the header.
type Tab struct {
	Text, Link string
	Here       bool
}

// Section is a part of a page. Empty fields are left out.
type Section struct {
	Heading, Text string
	Terms         []Term
	Tiles         bool // shows the terms side by side
	Pre           string
	Forms         []Form
	Table         *Table
}

// Table is a table. On a phone each row is shown as a box.
type Table struct {
	Columns []string
	Rows    [][]Cell
	Empty   string // shown if there are no rows
	LeftOff int    // rows that are not shown
	More    string // link to more of them, or empty
}

// Cell is one value.
type Cell struct {
	Text, Link string
	Tone       string // good, bad, wait or past
	Mono       bool
	Forms      []Form
}

// Term is a named value.
type Term struct {
	Name string
	Cell
}

// Form is a button with its inputs.
type Form struct {
	Action, Label string
	Describe      string // accessible name of the button, if the label is not enough
	Get           bool   // only reads
	Sure          string // asks before: the button is shown when the label is opened, and has this text
	Inputs        []Input
}

// Input is one field of a form.
type Input struct {
	Name, Label, Value, Placeholder string
	Short                           bool     // for a few characters
	Options                         []string // if not nil, the input is a list
}
