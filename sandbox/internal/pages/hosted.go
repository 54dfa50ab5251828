package pages

// Payment is what a hosted page says about the payment.
type Payment struct {
	Merchant string // shown name
	OrderID  string
	Amount   string // with its currency
	Token    bool   // no money is taken, the card is stored
	Lines    []Line
}

// Initial is the letter that stands for the merchant's logo.
func (p Payment) Initial() string {
	for _, r := range p.Merchant {
		return string(r)
	}
	return ""
}

// Line is one product of the order summary.
type Line struct{ Name, Quantity, Price string }

// CardPage asks for a card.
type CardPage struct {
	Title string
	Payment
	Declined  string // what to say of the card before, if that was declined
	Fields    []Field
	TestCards []TestCard
	Filled    bool // a test card is in the form: what is left is to pay
}

// Field is one input of the card form. The names are those of the interface's card object.
type Field struct {
	Name, Label, Hint, Autocomplete string
	InputMode                       string
	MaxLength                       int
	Half                            bool // two stand side by side
	Value, Error                    string
	Focus                           bool // the first one with an error
}

// Problems counts the fields with an error.
func (c CardPage) Problems() (n int) {
	for _, f := range c.Fields {
		if f.Error != "" {
			n++
		}
	}
	return n
}

// Describe names the elements that explain the input, for aria-describedby.
func (f Field) Describe() string {
	switch {
	case f.Hint != "" && f.Error != "":
		return f.Name + "-error " + f.Name + "-hint"
	case f.Error != "":
		return f.Name + "-error"
	case f.Hint != "":
		return f.Name + "-hint"
	}
	return ""
}

// TestCard is a button that fills the form.
type TestCard struct{ Value, Label, Hint string }

// ThreeDPage asks the cardholder to confirm the payment.
type ThreeDPage struct {
	Title string
	Payment
	Card string // masked number
	At   string
}

// MessagePage says one thing.
type MessagePage struct {
	Title, Text, Link string
	Payment
}
