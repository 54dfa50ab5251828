package redact

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/cardgateway/cardgateway-go/internal/mask"
)

// Error replaces an error of a hook, a limiter or a transport, whose fields may hold a request or a secret, by its text, or by its
// type if there is a secret, a card number, a CVV or a URL with user info in the text. *url.Error is unwrapped, because its text
// has the URL. For errors.Is the replacement matches what the error matches, except the outcomes of calls, which are not about this
// one; errors.As finds nothing of it.
func (s Secrets) Error(err error, isOutcome func(error) bool) error {
	return replace(err, isOutcome, func(text string) bool { return s.Find(text, MinText) || mask.Kept(text) != text })
}

// ReadError does the same for an error in reading a response, and also withholds a text with a card number or a CVV: net/http
// quotes what it could not read, which can be from another response.
func (s Secrets) ReadError(err error, isOutcome func(error) bool) error {
	return replace(err, isOutcome, func(text string) bool { return s.Find(text, MinText) || mask.CardData(text) != text })
}

func replace(given error, isOutcome func(error) bool, isSecret func(text string) bool) error {
	if given == nil {
		return nil
	}
	err := given
	for {
		u, ok := errors.AsType[*url.Error](err)
		if !ok || u == nil { // an As method may find anything
			break
		}
		err = cmp.Or(u.Err, errNoCause) // an error must not become none
	}
	text := fmt.Sprint(textOf{err})
	if isSecret(text) || userInfo.MatchString(text) {
		text = fmt.Sprintf("an error of type %T, whose text is withheld because it held a secret", err)
	}
	late, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return &foreignError{
		text: text, timeout: ok && late != nil && late.Timeout(), original: func() error { return err },
		is: func(target error) bool { return !isOutcome(target) && errors.Is(given, target) },
	}
}

// userInfo matches a URL that may have a password, or a port that is one: net/http quotes the proxy's, if it cannot be read.
var userInfo = regexp.MustCompile(`:\S.*@|invalid port`)

var errNoCause = errors.New("an error of type *url.Error without a cause")

// textOf has no method of an error but Error: fmt prints its text even if it has a Format method, and if Error panics.
type textOf struct{ error }

// foreignError replaces an error that is not of this library. What that one holds is within a function, where nothing that prints,
// encodes or walks through values finds it.
type foreignError struct {
	text     string
	timeout  bool
	is       func(target error) bool
	original func() error
}

// Original returns the error that Error or ReadError has replaced, or err if there is none, to find out its kind. Nothing of it may be
// shown or kept.
func Original(err error) error {
	if e, ok := errors.AsType[*foreignError](err); ok && e != nil {
		return e.original()
	}
	return err
}

func (e *foreignError) Error() string { return e.text }

// Is reports whether the original matches target, and target is no outcome of a call.
func (e *foreignError) Is(target error) bool { return e.is(target) }

// Timeout tells callers who ask for interface{ Timeout() bool }, as net.Error has it.
func (e *foreignError) Timeout() bool { return e.timeout }
