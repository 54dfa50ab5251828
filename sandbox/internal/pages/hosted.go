package pages

// Payment is what a hosted page shows of the payment.
type Payment struct {
	Merchant string // display name
	OrderID  string
	Amount   string // with its currency
	Token    bool   // the card is stored and no money is charged
	Lines    []Line
}

// Line is one product of the order summary.
type Line struct{ Name, Quantity, Price string }

// CardPage is the page with the card form.
type CardPage struct {
	Title string
	Payment
	Declined  string // message if the previous card was declined
	Fields    []Field
	TestCards []TestCard
	Filled    bool // a test card is filled in
}

// Field is one input of the card form. The names are those of the interface's card object.
type Field struct {
	Name, Label, Hint, Autocomplete string
	InputMode                       string
	MaxLength                       int
	Half                            bool // two are shown side by side
	Value, Error                    string
	Focus                           bool // the first one with an error
}

// Problems returns the number of fields with an error.
func (c CardPage) Problems() (n int) {
	for _, f := range c.Fields {
		if f.Error != "" {
			n++
		}
	}
	return n
}

// TestCard is a button that fills in the form.
type TestCard struct{ Value, Label, Hint string }

// ThreeDPage asks the cardholder to confirm the payment.
type ThreeDPage struct {
	Title string
	Payment
	Card string // masked number
	At   string
}

// MessagePage shows a message.
type MessagePage struct {
	Title, Text, Link string
	Payment
}
