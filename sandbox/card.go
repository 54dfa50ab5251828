package sandbox

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// CardEntry is what a cardholder enters on the card page. The gateway keeps only the first six and last four digits of the
// number, and the outcome.
type CardEntry struct {
	Number      string // 12 to 19 digits; spaces are ignored
	Month, Year string // two digits each; any date is accepted, also one in the past
	CVV         string // three or four digits; selects the outcome, see TestCard
	Cardholder  string
}

// Outcome is the behaviour of a test card, selected by its CVV.
type Outcome int

const (
	Approved   Outcome = iota // CVV 001 to 599: code 100
	Pending                   // CVV 600 to 699: code 102 until Settle is called
	Challenged                // CVV 700 to 799: 3D authentication, in which the cardholder decides
	Declined                  // CVV 800 to 999: code 101; also 000, which is not in the published table
)

func outcomeNames() []string { return []string{"approved", "pending", "challenged", "declined"} }

// String returns the name, or Outcome(n) for an unknown value.
func (o Outcome) String() string {
	if o < 0 || int(o) >= len(outcomeNames()) {
		return fmt.Sprintf("Outcome(%d)", int(o))
	}
	return outcomeNames()[o]
}

// MarshalText returns the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a name: approved, pending, challenged or declined.
func (o *Outcome) UnmarshalText(text []byte) error { return choose(o, outcomeNames(), text) }

// TestCard returns the published test card with a CVV that leads to the outcome.
func TestCard(o Outcome) CardEntry {
	cvv := "900"
	switch o {
	case Approved:
		cvv = "123"
	case Pending:
		cvv = "650"
	case Challenged:
		cvv = "750"
	}
	return CardEntry{Number: "4300000000000000", Month: "12", Year: "39", CVV: cvv, Cardholder: "Test Cardholder"}
}

// card is what the gateway stores of a CardEntry.
type card struct {
	masked  string
	outcome Outcome
}

// readCard checks a card. The names in the error are the interface's.
func readCard(e CardEntry) (card, *console.Error) {
	var invalid []console.FieldError
	refuse := func(field, text string) { invalid = append(invalid, console.FieldError{Name: field, Text: text}) }
	number := strings.ReplaceAll(e.Number, " ", "")
	if !money.IsDigits(number) || len(number) < 12 || len(number) > 19 {
		refuse("cardNumber", "must be 12 to 19 digits")
	}
	if len(e.Month) != 2 || e.Month < "01" || e.Month > "12" || !money.IsDigits(e.Month) {
		refuse("expiredMonth", "must be two digits, 01 to 12")
	}
	if len(e.Year) != 2 || !money.IsDigits(e.Year) {
		refuse("expiredYear", "must be two digits")
	}
	if !money.IsDigits(e.CVV) || len(e.CVV) < 3 || len(e.CVV) > 4 {
		refuse("cvv", "must be three or four digits")
	}
	if strings.TrimSpace(e.Cardholder) == "" {
		refuse("cardholder", "is missing")
	}
	if invalid != nil {
		return card{}, &console.Error{Status: http.StatusBadRequest, Text: invalid[0].Name + " " + invalid[0].Text, Fields: invalid}
	}
	return card{masked: mask.Number(number), outcome: outcomeOf(e.CVV)}, nil
}

// outcomeOf implements the published table. For a four-digit CVV, which is not in the table, the last three digits count.
func outcomeOf(cvv string) Outcome {
	switch last := cvv[len(cvv)-3:]; {
	case last == "000" || last >= "800":
		return Declined
	case last >= "700":
		return Challenged
	case last >= "600":
		return Pending
	}
	return Approved
}
