package pages

import (
	"strings"
	"testing"
)

// TestRender renders every page, with all fields and with none: there is no script, and untrusted text is escaped.
func TestRender(t *testing.T) {
	const evil = `"><script>alert(1)</script>`
	payment := Payment{Merchant: evil, OrderID: evil, Amount: evil, Lines: []Line{{evil, evil, evil}}}
	cell := Cell{Text: evil, Link: "javascript:alert(1)", Forms: []Form{{Action: evil, Label: evil, Describe: evil, Sure: evil, Inputs: []Input{
		{Name: "a", Label: evil, Value: evil, Placeholder: evil}, {Name: "c", Options: []string{evil}},
	}}}}
	for name, data := range map[string][]any{
		"CardPage": {CardPage{}, CardPage{
			Title: evil, Payment: payment, Declined: evil, TestCards: []TestCard{{evil, evil, evil}},
			Fields: []Field{{Name: "cvv", Label: evil, Hint: evil, Value: evil, Error: evil, Focus: true}},
		}},
		"ThreeDPage":  {ThreeDPage{}, ThreeDPage{Title: evil, Payment: payment, Card: evil, At: evil}},
		"MessagePage": {MessagePage{}, MessagePage{Title: evil, Text: evil, Link: "javascript:alert(1)", Payment: payment}},
		"Dashboard": {Dashboard{}, Dashboard{
			Title: evil, Label: evil, Tabs: []Tab{{evil, "javascript:alert(1)", true}}, Notice: evil,
			Sections: []Section{{
				Heading: evil, Text: evil, Terms: []Term{{evil, cell}}, Pre: evil, Forms: cell.Forms,
				Table: &Table{Columns: []string{evil, evil}, Rows: [][]Cell{{cell, cell}}, LeftOff: 3, More: "javascript:alert(1)"},
			}},
		}},
	} {
		for _, d := range data {
			text, err := Render(name, d)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			page := string(text)
			if strings.Contains(page, "<script") || strings.Contains(page, `"javascript:`) || !strings.HasSuffix(page, "</html>\n") {
				t.Errorf("%s has a script or no end: %s", name, page)
			}
		}
	}
	if _, err := Render("nothing", nil); err == nil {
		t.Error("a page that does not exist was rendered")
	}
}
