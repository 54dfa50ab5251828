package cardgateway

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/internal/redact"
)

// callSecrets are what no error, and no text of the gateway in a result, may show of one call.
type callSecrets struct {
	sent        redact.Secrets // the card number or the token
	credentials redact.Secrets // what the Authenticate hook has set
}

// all returns the secrets of both kinds.
func (s *callSecrets) all() redact.Secrets {
	if len(s.sent) == 0 {
		return s.credentials
	}
	return append(s.sent[:len(s.sent):len(s.sent)], s.credentials...)
}

// redact removes the secrets from what a call returns: t in any case, and what err keeps of a response.
func (s *callSecrets) redact(t *Transaction, err error) {
	s.redactTransaction(t, err != nil)
	if unknown, ok := errors.AsType[*OutcomeUnknownError](err); ok {
		s.redactTransaction(unknown.Transaction, true)
	}
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		for i := range conflict.Transactions {
			s.redactTransaction(&conflict.Transactions[i], true)
		}
	}
	s.redactMessages(err)
}

// redactRefund does so with a refund.
func (s *callSecrets) redactRefund(r *Refund, err error) {
	s.redactRefundRow(r, err != nil)
	if unknown, ok := errors.AsType[*OutcomeUnknownError](err); ok {
		s.redactRefundRow(unknown.Refund, true)
	}
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		for i := range conflict.Refunds {
			s.redactRefundRow(&conflict.Refunds[i], true)
		}
	}
	s.redactMessages(err)
}

// redactMessages removes the secrets from the gateway's words in an error.
func (s *callSecrets) redactMessages(err error) {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		s.all().Redact(&refused.Message, redact.MinText)
	}
	if failed, ok := errors.AsType[*QueryError](err); ok {
		s.all().Redact(&failed.Message, redact.MinText)
	}
}

// keepRaw keeps a response with the error that a call returns.
func keepRaw(raw *RawResponse, err error) {
	if unknown, ok := errors.AsType[*OutcomeUnknownError](err); ok {
		unknown.Raw = raw
	}
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		refused.Raw = raw
	}
	if failed, ok := errors.AsType[*QueryError](err); ok {
		failed.Raw = raw
	}
}

// raw masks a response, or returns nil if none came.
func (s *callSecrets) raw(r *attemptResult) *RawResponse {
	const maxBody = 64 << 10
	if r.Status == 0 {
		return nil
	}
	body := r.Body[:min(len(r.Body), maxBody)]
	raw := &RawResponse{
		HTTPStatus: r.Status, RequestIDs: make(http.Header), Truncated: len(body) < len(r.Body),
		Body: s.mask(strings.ToValidUTF8(string(body), "\uFFFD")),
	}
	for name, values := range r.Header {
		if lower := strings.ToLower(name); strings.HasSuffix(lower, "-id") || strings.HasSuffix(lower, "-ray") || strings.Contains(lower, "trace") {
			for _, value := range values {
				raw.RequestIDs.Add(name, s.mask(value))
			}
		}
	}
	return raw
}

// mask masks the secrets of a call, and card numbers, in a text of any kind.
func (s *callSecrets) mask(text string) string {
	s.all().Redact(&text, redact.MinText)
	return mask.Digits(text)
}

// redactRow removes credentials from a row of a query.
func (s *callSecrets) redactRow(row any) {
	switch row := row.(type) {
	case *Transaction:
		s.redactTransaction(row, false)
	case *Refund:
		s.redactRefundRow(row, false)
	}
}

// redactRefundRow removes credentials from a refund. One that an error keeps is masked too.
func (s *callSecrets) redactRefundRow(r *Refund, inError bool) {
	if r == nil {
		return
	}
	minCredential := redact.MinID
	if inError {
		minCredential = redact.MinText
		r.Message = mask.Digits(r.Message)
		redact.MaskMembers(r.Extra)
	}
	s.credentials.Redact(&r.Message, minCredential)
	s.credentials.RedactMembers(r.Extra, minCredential)
}

// redactTransaction removes the secrets from a transaction. One that an error keeps is masked too; see maskKept.
//
// Credentials are short words at times. Where all is well, only long ones are looked for, so that no harmless word is
// lost.
func (s *callSecrets) redactTransaction(t *Transaction, inError bool) {
	if t == nil || len(s.sent)+len(s.credentials) == 0 && !inError {
		return
	}
	minCredential := redact.MinID
	if inError {
		minCredential = redact.MinText
	}
	for _, id := range []*string{&t.UniqueID, &t.TransactionID, (*string)(&t.AppID), &t.TransactionCurrency} {
		s.sent.Redact(id, redact.MinID)
	}
	for _, message := range []*string{&t.Message, &t.BillDescription, &t.TransactionMessage} {
		s.credentials.Redact(message, minCredential)
	}
	for _, text := range t.texts() {
		s.credentials.Redact(text, redact.MinID)
		s.sent.Redact(text, redact.MinText)
	}
	if a := t.BillingAddress; a != nil {
		if len(s.sent) > 0 {
			a.Extra = nil // what was not asked for is not worth a search
		}
		s.credentials.RedactAnyMembers(a.Extra, redact.MinID)
	}
	if inError {
		t.maskKept()
	}
	s.sent.RedactMembers(t.Extra, redact.MinText)
	s.credentials.RedactMembers(t.Extra, minCredential)
}

// maskKept masks what an error keeps of a transaction: every text that could hold a card number. The redirect address
// goes, since nobody is sent there any more, and it may hold the token in yet another spelling.
func (t *Transaction) maskKept() {
	for _, text := range t.texts() {
		*text = mask.Digits(*text)
	}
	if t.BillingAddress != nil {
		t.BillingAddress.Extra = nil
	}
	t.RedirectURL = ""
	redact.MaskMembers(t.Extra)
}

// texts returns the members of a transaction that can hold any text.
func (t *Transaction) texts() []*string {
	texts := append(make([]*string, 0, 14), &t.Message, &t.BillDescription, &t.TransactionMessage,
		(*string)(&t.TransactionMethod), (*string)(&t.TransactionType))
	if a := t.BillingAddress; a != nil {
		texts = append(texts, &a.FirstName, &a.LastName, &a.Country, &a.Email, &a.City, &a.Address, &a.Phone, &a.State, &a.ZipCode)
	}
	return texts
}

// forError returns a copy of a transaction that an error may keep.
func (t *Transaction) forError() *Transaction {
	kept := *t
	if t.BillingAddress != nil {
		address := *t.BillingAddress
		kept.BillingAddress = &address
	}
	if t.Extra != nil {
		kept.Extra = make(map[string]json.RawMessage, len(t.Extra))
		for name, value := range t.Extra {
			kept.Extra[name] = value
		}
	}
	kept.maskKept()
	return &kept
}
