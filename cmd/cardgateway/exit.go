package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"

	"github.com/cardgateway/cardgateway-go"
)

// The exit codes. A script may rely on them; it must treat any other as a failure.
const (
	exitOK          = 0
	exitNo          = 1   // the answer is no, or something differs
	exitNoAnswer    = 2   // could not find out: wrong use, settings, network, credentials
	exitUnknown     = 3   // sent, and the outcome is unknown
	exitInterrupted = 130 // as a shell says of a program that Ctrl-C ended
)

// failure ends the program with an exit code, and with words for people.
type failure struct {
	code int
	text string // empty if everything has been said
}

func (f *failure) Error() string { return f.text }

// fail makes a failure. Its text names the setting or the flag that is to be changed.
func fail(code int, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// report says on w why a command failed, and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	failed, ok := errors.AsType[*failure](err)
	if !ok {
		failed = explain(err)
	}
	if failed.text != "" {
		fmt.Fprintf(w, "cardgateway: %s\n", failed.text)
	}
	return failed.code
}

// explain puts an error of the library into words of this program. The library's errors hold no card data, no credentials
// and no URL.
func explain(err error) *failure {
	text := clean(oneLine(strings.ReplaceAll(err.Error(), "cardgateway: ", "")))
	if errors.Is(err, context.Canceled) {
		return &failure{exitInterrupted, "interrupted"}
	}
	if errors.Is(err, cardgateway.ErrNotFound) {
		return &failure{exitNo, "the gateway does not know it: " + text}
	}
	if invalid, ok := errors.AsType[*cardgateway.ValidationError](err); ok {
		return &failure{exitNoAnswer, problems(invalid)}
	}
	status, code, answered := response(err)
	switch {
	case !answered:
	case status == http.StatusUnauthorized, status == http.StatusForbidden, code == cardgateway.CodeUnauthorized:
		text = "the gateway does not accept the credentials; are merchant-id and the secret key right? " + text
	case status == 0:
		text = "the gateway cannot be reached; is base-url right, and the network up? " + text
	}
	return &failure{exitNoAnswer, text}
}

// oneLine joins the lines of an error: of several errors, or as some databases write them.
func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "; ")
}

// response returns what the gateway said, of errors that tell it.
func response(err error) (status int, code cardgateway.Code, ok bool) {
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
	return clean(strings.Join(all, "; "))
}

// clean makes outside text fit for a terminal: control characters, and those that turn the direction of writing, are shown
// and not obeyed. Of a JSON text it makes one that means the same.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if !strings.ContainsFunc(s, isUnsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isUnsafe(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
