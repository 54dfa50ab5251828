// Package console is what people and programs see of the sandbox: the hosted pages for cardholders, and for developers the
// dashboard, the control API and the log of requests and notifications. It changes nothing by itself: every button and every
// request ends in a method of the Gateway, which is also what a Go test calls.
package console

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Gateway is what the console needs of the gateway. What the methods return are copies. Their errors are of type *Error.
type Gateway interface {
	// Act carries out an action on a payment, and returns the payment afterwards. The id is its uniqueId, its transactionId,
	// which means the newest payment with it, or the path of the hosted page on which it waits.
	Act(id string, a Action) (Payment, error)
	MakeRefund(id string, m RefundRequest) (Refund, error)
	EndRefund(id string, approved bool) (Refund, error) // by its refundUniqueId or its refundTransactionId
	TestCard(name string) (Card, error)
	MakeToken(testCard string) (string, error)
	Reset()

	Inject(settings []byte, slow time.Duration) (Fault, error) // slow is how long the slow ones of the predefined faults take
	RemoveFaults(number string) (n int, err error)             // all of them if number is empty

	Payment(id string) (Payment, error)
	Payments(Filter) List[Payment] // without seeded ones
	Refund(id string) (Refund, error)
	Refunds(Filter) List[Refund]
	HostedPage(path string) (Payment, error) // the payment of a hosted page, also if it waits on another page or is finished
	Token(id string) (string, error)
	Faults() []Fault
	Info() Info

	Closing() <-chan struct{}
}

// Action is what is done to a payment.
type Action struct {
	Kind    Kind
	Approve bool // of Settle and Authenticate
	Card    Card // of EnterCard
}

// Kind is the kind of an action.
type Kind int

// The actions on a payment. Those of a cardholder are the last three.
const (
	Settle       Kind = iota // ends a payment in processing
	Close                    // ends a payment that is not final
	Notify                   // sends the notification of a final payment again
	Chargeback               // sends the notification of a chargeback
	Renew                    // makes a later charge of a subscription
	EnterCard                // on the card page
	Authenticate             // on the 3D page
	Cancel                   // on the card page
)

// Card is what a cardholder enters.
type Card struct{ Number, Month, Year, CVV, Cardholder string }

// RefundRequest is a request for a refund. An empty amount means all that has not been refunded, an empty id a generated one.
type RefundRequest struct{ Amount, RefundTransactionID, Remark string }

// Error is why something is not done.
type Error struct {
	Status int // HTTP status: 400 for an invalid request, 404, or 409 if the state does not allow it
	Text   string
	Hint   string       // what to do instead; may be empty
	Fields []FieldError // of a card
}

// FieldError is an invalid field of a card. The names are the interface's.
type FieldError struct{ Name, Text string }

// Error returns the text, as Go callers see it.
func (e *Error) Error() string { return "sandbox: " + e.Text }

// asError returns an error with its status and its text.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Status: http.StatusInternalServerError, Text: err.Error()}
}

// Conflict returns the error of an action that the state does not allow.
func Conflict(text, hint string) error {
	return &Error{Status: http.StatusConflict, Text: text, Hint: hint}
}

// NotFound returns the error for an id that nothing has.
func NotFound(what, id string) error {
	return &Error{Status: http.StatusNotFound, Text: fmt.Sprintf("no %s %.60q", what, id), Hint: "GET " + apiPath + what + "s lists them"}
}

// Invalid returns the error of an invalid request.
func Invalid(text string) error {
	return &Error{Status: http.StatusBadRequest, Text: text, Hint: "docs/sandbox.md lists the members of every request"}
}

// Settings are what the console has to know and what does not change.
type Settings struct {
	Label        string         // of this sandbox
	MerchantName string         // on the hosted pages; empty means the host of the callbackUrl
	Zone         *time.Location // of the times on the pages
	Document     []byte         // the OpenAPI description
	Operations   []string       // that a fault can disturb
	FaultNames   []string       // of the predefined faults
}

// Console serves what people see. Create one with New.
type Console struct {
	gateway  Gateway
	log      *Log
	settings Settings

	once    sync.Once
	control http.Handler
}

// New returns a console of a gateway.
func New(g Gateway, log *Log, s Settings) *Console {
	return &Console{gateway: g, log: log, settings: s}
}

// Paths of the console.
const (
	Path    = "/_sandbox/" // prefix of dashboard and control API
	apiPath = Path + "api/v1/"
)

// ServeHTTP serves the dashboard, the control API and the OpenAPI description. It does not check who asks.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.once.Do(func() {
		mux := http.NewServeMux()
		c.addAPI(mux)
		c.addDashboard(mux)
		mux.HandleFunc("GET "+Path+"openapi.json", func(w http.ResponseWriter, _ *http.Request) {
			sendJSON(w, http.StatusOK, c.settings.Document)
		})
		c.control = mux
	})
	c.control.ServeHTTP(w, r)
}
