// Package exit defines the exit codes, and the errors that end the program with one of them.
package exit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// The exit codes. Scripts can rely on them, and must treat any other code as a failure.
const (
	OK          = 0
	Negative    = 1   // the result is negative: not found, refused, or there are differences
	Failed      = 2   // there is no result: wrong usage, configuration, network or credentials
	Unknown     = 3   // sent, but the outcome is unknown or not final
	Conflict    = 4   // money may have moved twice, or after the shop was told that it did not
	Overdue     = 5   // an outcome has been unknown for longer than it should be
	Unreadable  = 6   // done, except for rows of the gateway that cannot be read
	Interrupted = 130 // as shells report for a program that Ctrl-C ended
)

// Failure ends the program with an exit code and a message.
type Failure struct {
	Code int
	Text string // the message; empty to print none
}

func (f *Failure) Error() string { return f.Text }

// Fail returns a Failure with a Message. It should name the setting or flag to change.
func Fail(code int, format string, args ...any) error {
	return &Failure{code, Message(format, args...)}
}

// Message formats a message. Texts and errors among the arguments may come from outside: what a terminal would obey is escaped, and an
// error of several lines, such as joined ones, becomes one line.
func Message(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = arg
		if err, ok := arg.(error); ok {
			safe[i] = terminal.Clean(terminal.OneLine(err.Error()))
		} else if reflect.ValueOf(arg).Kind() == reflect.String {
			safe[i] = terminal.Clean(fmt.Sprint(arg))
		}
	}
	return fmt.Sprintf(format, safe...)
}

// Report prints an error on w, and returns its exit code.
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

// Explain converts an error of the library to a Failure. The library's errors contain no card data, credentials or URLs.
func Explain(err error) *Failure {
	ownWords := strings.NewReplacer("cardgateway: ", "", "Config.AppID", "app-id")
	text := terminal.Clean(terminal.OneLine(ownWords.Replace(err.Error())))
	if errors.Is(err, context.Canceled) {
		return &Failure{Interrupted, "interrupted"}
	}
	if errors.Is(err, cardgateway.ErrNotFound) {
		if _, code, ok := Response(err); ok { // do not say three times that it was not found
			text = strings.TrimSuffix(strings.Replace(text, code.String(), strconv.Itoa(int(code)), 1), ": not found")
		}
		return &Failure{Negative, "the gateway does not know it: " + text}
	}
	if invalid, ok := errors.AsType[*cardgateway.ValidationError](err); ok {
		return &Failure{Failed, problems(invalid)}
	}
	status, code, answered := Response(err)
	switch {
	case !answered:
	case status == http.StatusUnauthorized, status == http.StatusForbidden, code == cardgateway.CodeUnauthorized:
		text = "the gateway does not accept the credentials; check merchant-id and the secret key: " + text
	case status == 0:
		text = "the gateway cannot be reached; check base-url and the network: " + text
	}
	return &Failure{Failed, text}
}

// Response returns the HTTP status and the code of a failed query or a refusal; ok is false for other errors.
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

// Rename puts names of flags and settings in place of the fields of a request or of a cardgateway.Config that an error names.
func Rename(err error, names map[string]string) error {
	if invalid, ok := errors.AsType[*cardgateway.ValidationError](err); ok {
		for i, p := range invalid.Problems {
			invalid.Problems[i].Field = cmp.Or(names[p.Field], p.Field)
		}
	}
	return err
}

// CannotWrite returns the error for output that cannot be written, or nil.
func CannotWrite(what string, err error) error {
	if err == nil {
		return nil
	}
	return Fail(Failed, "the %s cannot be written: %v", what, err)
}
