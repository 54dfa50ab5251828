package exit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cardgateway/cardgateway-go"
)

// TestReport: every error ends with the exit code that scripts rely on, and with one clean line for people.
func TestReport(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		code int
		want string
	}{
		{"fine", nil, OK, ""},
		{"own words", Fail(Negative, "no %s", "row"), Negative, "cardgateway: no row\n"},
		{"own words, wrapped", fmt.Errorf("more: %w", Fail(Unknown, "sent")), Unknown, "cardgateway: sent\n"},
		{"all has been said", Fail(Negative, ""), Negative, ""},
		{"stdout is full", CannotWrite("rows", errors.New("no space")), Failed, "cardgateway: the rows cannot be written: no space\n"},
		{"interrupted", fmt.Errorf("asking: %w", context.Canceled), Interrupted, "cardgateway: interrupted\n"},
		{"not found", fmt.Errorf("cardgateway: GetTransaction: %w", cardgateway.ErrNotFound), Negative,
			"cardgateway: the gateway does not know it: GetTransaction: "},
		{"limits", &cardgateway.ValidationError{Problems: []cardgateway.Problem{{Field: "A", Message: "is too long"}, {Field: "B", Message: "is missing"}}}, Failed,
			"cardgateway: A is too long; B is missing\n"},
		{"credentials", &cardgateway.QueryError{HTTPStatus: 401}, Failed, "cardgateway: the gateway does not accept the credentials; "},
		{"code of credentials", &cardgateway.RefusedError{HTTPStatus: 200, Code: cardgateway.CodeUnauthorized}, Failed,
			"cardgateway: the gateway does not accept the credentials; "},
		{"no gateway", &cardgateway.QueryError{}, Failed, "cardgateway: the gateway cannot be reached; "},
		{"another one", errors.New("two\nlines \x1b[2J"), Failed, "cardgateway: two; lines \\u001b[2J\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			code := Report(&out, test.err)
			if got := out.String(); code != test.code || len(got) < len(test.want) || got[:len(test.want)] != test.want || test.want == "" && got != "" {
				t.Errorf("got %d and %q, want %d and first %q", code, got, test.code, test.want)
			}
		})
	}
}

// TestMessage: what a terminal would obey is escaped in texts and errors, and the format is as it is.
func TestMessage(t *testing.T) {
	type own string
	got := Message("%s: %v, %d,\n%v", own("a\x1b[2J\nb"), errors.New("\u202ec\nd"), 7, nil)
	if want := "a\\u001b[2J\\u000ab: \\u202ec; d, 7,\n<nil>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
