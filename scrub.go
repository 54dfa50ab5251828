package cardgateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
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
	return &withheldError{kind: fmt.Sprintf("%T", err), is: standardCause(err)}
}

// leaks looks for the call's secrets in an error and in all that it wraps, as the fmt verbs show them.
func (out *outgoing) leaks(err error) bool {
	for e := err; e != nil; e = errors.Unwrap(e) {
		for _, format := range []string{"%v", "%+v", "%#v"} {
			text := fmt.Appendf(nil, format, e)
			for _, secret := range out.secrets {
				if bytes.Contains(text, secret) {
					return true
				}
			}
		}
	}
	return false
}

// hide adds what an Authorization header gives away to the call's secrets, in the forms in which it could be printed.
func (out *outgoing) hide(header string) {
	_, value, _ := strings.Cut(header, " ")
	parsed := http.Request{Header: http.Header{"Authorization": {header}}}
	_, password, _ := parsed.BasicAuth()
	for _, secret := range []string{value, password, header} {
		known := slices.ContainsFunc(out.secrets, func(s []byte) bool { return string(s) == secret })
		if len(secret) >= shortestSecret && !known {
			out.secrets = append(out.secrets, []byte(secret))
		}
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

// scrub removes the call's own secrets from what the gateway answered, t in any case and what err keeps of it.
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
		out.scrubText(&refused.Message, shortestSecret)
	}
	if failed, ok := errors.AsType[*QueryError](err); ok {
		out.scrubText(&failed.Message, shortestSecret)
	}
}

// scrubTransaction scrubs a transaction. One that an error keeps is also searched for other card numbers, and loses
// its redirect address.
func (out *outgoing) scrubTransaction(t *Transaction, failed bool) {
	if t == nil || len(out.secrets) == 0 && !failed {
		return
	}
	for _, id := range []*string{&t.UniqueID, &t.TransactionID, (*string)(&t.AppID), &t.TransactionCurrency} {
		out.scrubText(id, longEnough)
	}
	texts := append(make([]*string, 0, 14), &t.Message, &t.BillDescription, &t.TransactionMessage,
		(*string)(&t.TransactionMethod), (*string)(&t.TransactionType))
	if a := t.BillingAddress; a != nil {
		a.Extra = nil // what was not asked for is not worth searching
		texts = append(texts, &a.FirstName, &a.LastName, &a.Country, &a.Email, &a.City, &a.Address, &a.Phone, &a.State, &a.ZipCode)
	}
	for _, text := range texts {
		out.scrubText(text, shortestSecret)
		if failed {
			*text = maskDigits(*text)
		}
	}
	if failed { // nobody is sent there any more, and it may hold the token in yet another spelling
		t.RedirectURL = ""
	}
	out.scrubExtra(t.Extra, failed)
}

func (out *outgoing) scrubText(text *string, shortest int) {
	for _, secret := range out.secrets {
		if shortest <= len(secret) && len(secret) <= len(*text) && strings.Contains(*text, string(secret)) {
			*text = strings.ReplaceAll(*text, string(secret), maskedAll)
		}
	}
}

// scrubExtra replaces the members whose name or value has a secret, however the value writes it.
func (out *outgoing) scrubExtra(extra map[string]json.RawMessage, failed bool) {
	for name, raw := range extra {
		unescaped, _ := appendUnescaped(nil, raw)
		shown, text := name, string(unescaped)
		out.scrubText(&shown, shortestSecret)
		out.scrubText(&text, shortestSecret)
		if shown != name || text != string(unescaped) || failed && maskDigits(text) != text {
			delete(extra, name)
			extra[shown] = json.RawMessage(`"` + maskedAll + `"`)
		}
	}
}
