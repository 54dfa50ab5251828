package cardgateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/percent"
)

// clean makes an error of the transport or a hook fit to be kept: *url.Error is taken apart, since it prints the
// URL, and an error in which a secret of this call can be found, or a card number, is replaced.
func (out *outgoing) clean(err error) error {
	for {
		u, ok := errors.AsType[*url.Error](err)
		if !ok {
			break
		}
		err = u.Err
	}
	if err == nil || !out.leaks(err) {
		return err
	}
	return &withheldError{kind: fmt.Sprintf("%T", err), is: standardCause(err)}
}

// leaks looks for secrets in an error and in all that it wraps, as the fmt verbs show them. net/http quotes what it
// could not read of an answer, which can be anybody's card number.
func (out *outgoing) leaks(err error) bool {
	secrets := out.needles()
	for _, format := range []string{"%v", "%+v", "%#v"} {
		if secrets.in(fmt.Sprintf(format, err), shortestSecret) {
			return true
		}
	}
	if text := err.Error(); maskDigits(text) != text {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return e.Unwrap() != nil && out.leaks(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), out.leaks)
	}
	return false
}

// hide notes what the hook has set and no error may give away, in the forms in which it could be printed: whole
// values, and of Authorization the parts as well, with the password of Basic.
func (out *outgoing) hide(header http.Header) {
	for name, values := range header {
		switch http.CanonicalHeaderKey(name) {
		case "Accept", "Content-Type", "Expect", "User-Agent":
			continue
		case "Authorization":
			for _, value := range values {
				out.hideCredentials(value)
			}
		}
		for _, value := range values {
			out.credentials.add(value, longEnough)
		}
	}
}

func (out *outgoing) hideCredentials(value string) {
	_, all, _ := strings.Cut(value, " ")
	out.credentials.add(all, shortestSecret)
	parsed := http.Request{Header: http.Header{"Authorization": {value}}}
	if _, password, ok := parsed.BasicAuth(); ok {
		out.credentials.add(password, shortestSecret)
	}
	for _, part := range strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune("\t \",;=", c) }) {
		out.credentials.add(part, longEnough)
	}
}

// standardCause returns the error of the standard library that callers ask for by errors.Is, if err is one.
func standardCause(err error) error {
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, cause) {
			return cause
		}
	}
	return nil
}

// withheldError stands for an error whose text held card data, a token or credentials.
type withheldError struct {
	kind string
	is   error
}

func (e *withheldError) Error() string {
	return "an error of type " + e.kind + ", whose text is withheld because it held a secret"
}

func (e *withheldError) Unwrap() error { return e.is }

// shortestSecret is how long a secret must be to be looked for in texts, and longEnough in identifiers: a shorter
// one would be found where it is not meant, and an identifier must not be harmed.
const (
	shortestSecret = 4
	longEnough     = 12
)

// needles are secrets that are looked for in texts.
type needles [][]byte

// add notes a secret of at least so many characters, and how it looks once digits have been masked in it.
func (s *needles) add(secret string, shortest int) {
	for _, form := range []string{secret, maskDigits(secret)} {
		known := slices.ContainsFunc(*s, func(n []byte) bool { return string(n) == form })
		if len(secret) >= shortest && !known {
			*s = append(*s, []byte(form))
		}
	}
}

// in reports whether one of the secrets that have at least so many characters is in a text.
func (s needles) in(text string, shortest int) bool {
	for _, secret := range s {
		if shortest <= len(secret) && len(secret) <= len(text) && strings.Contains(text, string(secret)) {
			return true
		}
	}
	return false
}

// cutFrom replaces the secrets in a text, or all of it where they are hidden by escapes.
func (s needles) cutFrom(text *string, shortest int) {
	for _, secret := range s {
		if shortest <= len(secret) && len(secret) <= len(*text) && strings.Contains(*text, string(secret)) {
			*text = strings.ReplaceAll(*text, string(secret), maskedAll)
		}
	}
	if len(s) > 0 && strings.Contains(*text, "%") {
		once := percent.Decode(*text)
		if s.in(once, shortest) || s.in(percent.Decode(once), shortest) {
			*text = maskedAll
		}
	}
}

// cutFromExtra replaces the members whose name or value has a secret, however the value writes it, and if masked is
// set those with a card number.
func (s needles) cutFromExtra(extra map[string]json.RawMessage, masked bool) {
	for name, raw := range extra {
		unescaped, _ := appendUnescaped(nil, raw)
		shown, text := name, string(unescaped)
		s.cutFrom(&shown, shortestSecret)
		s.cutFrom(&text, shortestSecret)
		if shown != name || text != string(unescaped) || masked && maskDigits(text) != text {
			delete(extra, name)
			extra[shown] = json.RawMessage(`"` + maskedAll + `"`)
		}
	}
}

// needles are all secrets that nothing the gateway says may show.
func (out *outgoing) needles() needles {
	if len(out.secrets) == 0 {
		return out.credentials
	}
	return append(slices.Clip(out.secrets), out.credentials...)
}

// scrub removes secrets from what the gateway answered, t in any case and what err keeps of it.
func (out *outgoing) scrub(t *Transaction, err error) {
	out.scrubTransaction(t, err != nil)
	if unknown, ok := errors.AsType[*OutcomeUnknownError](err); ok {
		out.scrubTransaction(unknown.Transaction, true)
	}
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		for i := range conflict.Transactions {
			out.scrubTransaction(&conflict.Transactions[i], true)
		}
	}
	if refused, ok := errors.AsType[*GatewayError](err); ok {
		out.needles().cutFrom(&refused.Message, shortestSecret)
	}
	if failed, ok := errors.AsType[*QueryError](err); ok {
		out.needles().cutFrom(&failed.Message, shortestSecret)
	}
}

// scrubRow removes secrets from a row of a query.
func (out *outgoing) scrubRow(row any) {
	switch row := row.(type) {
	case *Transaction:
		out.scrubTransaction(row, false)
	case *Refund:
		if row == nil {
			return
		}
		out.needles().cutFrom(&row.Message, shortestSecret)
		out.needles().cutFromExtra(row.Extra, false)
	}
}

// scrubTransaction scrubs a transaction. One that an error keeps is also searched for other card numbers, and loses
// its redirect address.
func (out *outgoing) scrubTransaction(t *Transaction, failed bool) {
	secrets := out.needles()
	if t == nil || len(secrets) == 0 && !failed {
		return
	}
	for _, id := range []*string{&t.UniqueID, &t.TransactionID, (*string)(&t.AppID), &t.TransactionCurrency} {
		out.secrets.cutFrom(id, longEnough)
	}
	texts := append(make([]*string, 0, 14), &t.Message, &t.BillDescription, &t.TransactionMessage,
		(*string)(&t.TransactionMethod), (*string)(&t.TransactionType))
	if a := t.BillingAddress; a != nil {
		if failed || len(out.secrets) > 0 {
			a.Extra = nil // what was not asked for is not worth searching
		}
		texts = append(texts, &a.FirstName, &a.LastName, &a.Country, &a.Email, &a.City, &a.Address, &a.Phone, &a.State, &a.ZipCode)
	}
	for _, text := range texts {
		secrets.cutFrom(text, shortestSecret)
		if failed {
			*text = maskDigits(*text)
		}
	}
	if failed { // nobody is sent there any more, and it may hold the token in yet another spelling
		t.RedirectURL = ""
	}
	secrets.cutFromExtra(t.Extra, failed)
}
