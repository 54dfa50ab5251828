// Package exit says how the program ends: with which exit code, and with which words for people.
package exit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// The exit codes. A script may rely on them; it must treat any other as a failure.
const (
	OK          = 0
	No          = 1   // the answer is no, or something differs
	NoAnswer    = 2   // could not find out: wrong use, settings, network, credentials
	Unknown     = 3   // sent, and the outcome is unknown
	Interrupted = 130 // as a shell says of a program that Ctrl-C ended
)

// Failure ends the program with an exit code, and with words for people.
type Failure struct {
	Code int
	Text string // empty if everything has been said
}

func (f *Failure) Error() string { return f.Text }

// Fail makes a failure. Its text names the setting or the flag that is to be changed.
func Fail(code int, format string, args ...any) error {
	return &Failure{code, fmt.Sprintf(format, args...)}
}

// Report says on w why a command failed, and returns the exit code.
func Report(w io.Writer, err error) int {
	if err == nil {
		return OK
	}
	failed, ok := errors.AsType[*Failure](err)
	if !ok {
		failed = Explain(err)
	}
	if failed.Text != "" {
		fmt.Fprintf(w, "cardgateway: %s\n", failed.Text)
	}
	return failed.Code
}

// Explain puts an error of the library into words of this program. The library's errors hold no card data, no credentials
// and no URL.
func Explain(err error) *Failure {
	text := terminal.Clean(terminal.OneLine(strings.ReplaceAll(err.Error(), "cardgateway: ", "")))
	if errors.Is(err, context.Canceled) {
		return &Failure{Interrupted, "interrupted"}
	}
	if errors.Is(err, cardgateway.ErrNotFound) {
		return &Failure{No, "the gateway does not know it: " + text}
	}
	if invalid, ok := errors.AsType[*cardgateway.ValidationError](err); ok {
		return &Failure{NoAnswer, problems(invalid)}
	}
	status, code, answered := Response(err)
	switch {
	case !answered:
	case status == http.StatusUnauthorized, status == http.StatusForbidden, code == cardgateway.CodeUnauthorized:
		text = "the gateway does not accept the credentials; are merchant-id and the secret key right? " + text
	case status == 0:
		text = "the gateway cannot be reached; is base-url right, and the network up? " + text
	}
	return &Failure{NoAnswer, text}
}

// Response returns what the gateway said, of errors that tell it.
func Response(err error) (status int, code cardgateway.Code, ok bool) {
	if failed, ok := errors.AsType[*cardgateway.QueryError](err); ok {
		return failed.HTTPStatus, failed.Code, true
	}
	if refused, ok := errors.AsType[*cardgateway.RefusedError](err); ok {
		return refused.HTTPStatus, refused.Code, true
	}
	return 0, 0, false
}

// problems lists the violated limits of a request.
func problems(invalid *cardgateway.ValidationError) string {
	var all []string
	for _, p := range invalid.Problems {
		all = append(all, p.Field+" "+p.Message)
	}
	return terminal.Clean(strings.Join(all, "; "))
}

// CannotWrite says that stdout takes no more.
func CannotWrite(what string, err error) error {
	return Fail(NoAnswer, "the %s cannot be written: %v", what, err)
}
