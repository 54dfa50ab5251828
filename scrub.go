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
// URL, and an error in which a secret of this call can be found is replaced.
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
	return withhold(err)
}

// cleanAnswer does so with an error in reading an answer, and replaces one with a card number too: net/http quotes what
// it could not read, which can be anybody's.
func (out *outgoing) cleanAnswer(err error) error {
	if err = out.clean(err); err != nil && maskDigits(err.Error()) != err.Error() {
		return withhold(err)
	}
	return err
}

func withhold(err error) error {
	return &withheldError{kind: fmt.Sprintf("%T", err), is: standardCause(err)}
}

// leaks looks for secrets in an error and in all that it wraps, as the fmt verbs show them.
func (out *outgoing) leaks(err error) bool {
	if err == nil { // as some who wrap several have among them
		return false
	}
	secrets := out.needles()
	for _, format := range []string{"%v", "%+v", "%#v"} {
		if secrets.in(fmt.Sprintf(format, err), shortestSecret) {
			return true
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return out.leaks(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), out.leaks)
	}
	return false
}

// hide notes what the hook has set and no error may give away: the headers whose names speak of it.
func (out *outgoing) hide(header http.Header) {
	for name, values := range header {
		name = strings.ToLower(name)
		speaks := func(word string) bool { return strings.Contains(name, word) }
		ends := func(ending string) bool { return strings.HasSuffix(name, ending) }
		if !slices.ContainsFunc(credentialWords, speaks) || slices.ContainsFunc(harmlessEndings, ends) {
			continue
		}
		for _, value := range values {
			out.hideCredentials(value)
		}
	}
}

// credentialWords are parts of the names of headers that carry credentials, unless they end in one of the others.
var (
	credentialWords = []string{"auth", "cookie", "key", "token", "secret", "sign", "pass"}
	harmlessEndings = []string{"idempotency-key", "-type", "-version", "-method", "-algorithm", "-date", "-timestamp", "-user"}
)

// hideCredentials notes a value in the forms in which it could be printed: whole, without its scheme, with the password
// of Basic alone, and the parts of a list.
func (out *outgoing) hideCredentials(value string) {
	_, all, _ := strings.Cut(value, " ")
	out.credentials.add(value, shortestSecret)
	out.credentials.add(all, shortestSecret)
	parsed := http.Request{Header: http.Header{"Authorization": {value}}}
	if _, password, ok := parsed.BasicAuth(); ok {
		out.credentials.add(password, shortestSecret)
	}
	for _, part := range strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune("\t \",;:=", c) }) {
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

// isIn reports whether a secret that has at least so many characters is in a text. Most are longer than the text.
func isIn(secret []byte, text string, shortest int) bool {
	return shortest <= len(secret) && len(secret) <= len(text) && strings.Contains(text, string(secret))
}

// in reports whether one of the secrets that have at least so many characters is in a text.
func (s needles) in(text string, shortest int) bool {
	return slices.ContainsFunc(s, func(secret []byte) bool { return isIn(secret, text, shortest) })
}

// cutFrom replaces the secrets in a text, or all of it where they are hidden by escapes.
func (s needles) cutFrom(text *string, shortest int) {
	for _, secret := range s {
		if isIn(secret, *text, shortest) {
			*text = strings.ReplaceAll(*text, string(secret), maskedAll)
		}
	}
	if len(s) > 0 && strings.ContainsAny(*text, `%\`) && s.escapedIn(*text, shortest) {
		*text = maskedAll
	}
}

// escapedIn looks for the secrets behind escapes of URLs and of JSON, and of both, once and twice.
func (s needles) escapedIn(text string, shortest int) bool {
	for range 2 {
		plain := readable(text)
		if s.in(plain, shortest) || s.in(percent.Decode(text), shortest) {
			return true
		}
		text = percent.Decode(plain)
		if s.in(text, shortest) {
			return true
		}
	}
	return false
}

// cutFromExtra replaces the members whose name or value has a secret, however the value writes it.
func (s needles) cutFromExtra(extra map[string]json.RawMessage, shortest int) {
	if len(s) == 0 {
		return
	}
	for name, raw := range extra {
		shown, text := name, readable(raw)
		s.cutFrom(&shown, shortest)
		if shown != name || s.hidIn(text, shortest) {
			delete(extra, name)
			extra[shown] = withheldValue()
		}
	}
}

// cutFromAddress does so with the members of an address that the interface does not name.
func (s needles) cutFromAddress(a *Address) {
	for name, value := range a.Extra {
		if raw, ok := value.(json.RawMessage); ok && s.hidIn(readable(raw), longEnough) {
			a.Extra[name] = withheldValue()
		}
	}
}

// hidIn reports whether cutFrom would change a text.
func (s needles) hidIn(text string, shortest int) bool {
	cut := text
	s.cutFrom(&cut, shortest)
	return cut != text
}

// maskExtra replaces the members that have a card number.
func maskExtra(extra map[string]json.RawMessage) {
	for name, raw := range extra {
		if text := readable(raw); maskDigits(text) != text {
			extra[name] = withheldValue()
		}
	}
}

func withheldValue() json.RawMessage { return json.RawMessage(`"` + maskedAll + `"`) }

// readable is a text without the escapes of JSON.
func readable[T ~string | ~[]byte](text T) string {
	if !strings.Contains(string(text), `\`) {
		return string(text)
	}
	plain, _ := appendUnescaped(nil, []byte(text))
	return string(plain)
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
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		out.needles().cutFrom(&refused.Message, shortestSecret)
	}
	if failed, ok := errors.AsType[*QueryError](err); ok {
		out.needles().cutFrom(&failed.Message, shortestSecret)
	}
}

// scrubRow removes credentials from a row of a query.
func (out *outgoing) scrubRow(row any) {
	switch row := row.(type) {
	case *Transaction:
		out.scrubTransaction(row, false)
	case *Refund:
		if row != nil {
			out.credentials.cutFrom(&row.Message, longEnough)
			out.credentials.cutFromExtra(row.Extra, longEnough)
		}
	}
}

// scrubTransaction scrubs a transaction. One that an error keeps is also searched for other card numbers, and loses
// its redirect address.
func (out *outgoing) scrubTransaction(t *Transaction, failed bool) {
	if t == nil || len(out.secrets)+len(out.credentials) == 0 && !failed {
		return
	}
	for _, id := range []*string{&t.UniqueID, &t.TransactionID, (*string)(&t.AppID), &t.TransactionCurrency} {
		out.secrets.cutFrom(id, longEnough)
	}
	shortest := longEnough // of credentials: where all is well, no harmless word that is also a password may be lost
	if failed {
		shortest = shortestSecret
	}
	texts := append(make([]*string, 0, 14), &t.Message, &t.BillDescription, &t.TransactionMessage)
	for _, words := range texts {
		out.credentials.cutFrom(words, shortest)
	}
	texts = append(texts, (*string)(&t.TransactionMethod), (*string)(&t.TransactionType))
	if a := t.BillingAddress; a != nil {
		if failed || len(out.secrets) > 0 {
			a.Extra = nil // what was not asked for is not worth searching
		}
		out.credentials.cutFromAddress(a)
		texts = append(texts, &a.FirstName, &a.LastName, &a.Country, &a.Email, &a.City, &a.Address, &a.Phone, &a.State, &a.ZipCode)
	}
	for _, text := range texts {
		out.credentials.cutFrom(text, longEnough)
		out.secrets.cutFrom(text, shortestSecret)
		if failed {
			*text = maskDigits(*text)
		}
	}
	if failed { // nobody is sent there any more, and it may hold the token in yet another spelling
		t.RedirectURL = ""
		maskExtra(t.Extra)
	}
	out.secrets.cutFromExtra(t.Extra, shortestSecret)
	out.credentials.cutFromExtra(t.Extra, shortest)
}
