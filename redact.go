package cardgateway

import (
	"maps"

	"github.com/cardgateway/cardgateway-go/internal/redact"
)

// callSecrets are the secrets of one call. No error, and no text of the gateway in a result, may show them.
type callSecrets struct {
	sent        redact.Secrets // the card number or the token
	credentials redact.Secrets // what the Authenticate hook has set, and the secret of redact.WithSecret
}

// all returns the secrets of both kinds.
func (s *callSecrets) all() redact.Secrets {
	if len(s.sent) == 0 {
		return s.credentials
	}
	return append(s.sent[:len(s.sent):len(s.sent)], s.credentials...)
}

// complete removes the secrets from what an error keeps of a response, and adds the request id, and the response, if it is kept.
func (s *callSecrets) complete(err error, requestID string, raw *RawResponse) {
	inError := s.masker(true)
	switch e := err.(type) {
	case *DeclinedError:
		e.RequestID = requestID
	case *RefundDeclinedError:
		e.RequestID = requestID
	case *TestPaymentError:
		e.RequestID = requestID
	case *OutcomeUnknownError:
		e.Transaction.mask(inError)
		e.RequestID, e.Raw = requestID, raw
	case *RefundUnknownError:
		e.Refund.mask(inError)
		e.RequestID, e.Raw = requestID, raw
	case *ConflictError:
		for i := range e.Transactions {
			e.Transactions[i].mask(inError)
		}
	case *RefundConflictError:
		for i := range e.Refunds {
			e.Refunds[i].mask(inError)
		}
	case *RefusedError:
		s.all().Redact(&e.Message, redact.MinText)
		e.RequestID, e.Raw = requestID, raw
	case *QueryError:
		s.all().Redact(&e.Message, redact.MinText)
		e.RequestID, e.Raw = requestID, raw
	}
}

func (s *callSecrets) masker(inError bool) redact.Masker {
	return redact.Masker{Sent: s.sent, Credentials: s.credentials, InError: inError}
}

// mask masks the texts of a transaction.
func (t *Transaction) mask(m redact.Masker) {
	if t == nil || m.IsIdle() {
		return
	}
	m.IDs(&t.UniqueID, &t.TransactionID, (*string)(&t.AppID))
	m.Messages(&t.Message, &t.BillDescription, &t.TransactionMessage)
	m.Texts((*string)(&t.TransactionMethod), (*string)(&t.TransactionType), &t.TransactionCurrency, (*string)(&t.TransactionCardNumber))
	if a := t.BillingAddress; a != nil {
		m.Texts(&a.FirstName, &a.LastName, &a.Country, &a.Email, &a.City, &a.Address, &a.Phone, &a.State, &a.ZipCode)
		m.AddressMembers(&a.Extra)
	}
	m.URL(&t.RedirectURL)
	m.Members(t.Extra)
}

// mask masks the texts of a refund.
func (r *Refund) mask(m redact.Masker) {
	if r == nil || m.IsIdle() {
		return
	}
	m.Messages(&r.Message)
	m.Texts(&r.RefundCurrency)
	m.Members(r.Extra)
}

// forError returns a masked copy of a transaction that an error may keep.
func (t *Transaction) forError() *Transaction {
	kept := *t
	if t.BillingAddress != nil {
		address := *t.BillingAddress
		kept.BillingAddress = &address
	}
	kept.Extra = maps.Clone(t.Extra)
	kept.mask(redact.Masker{InError: true})
	return &kept
}

// forError returns a masked copy of a refund that an error may keep.
func (r *Refund) forError() *Refund {
	kept := *r
	kept.Extra = maps.Clone(r.Extra)
	kept.mask(redact.Masker{InError: true})
	return &kept
}

// raw masks a response, or returns nil if none came.
func (s *callSecrets) raw(r *attemptResult) *RawResponse {
	const maxBody = 64 << 10
	if r.Status == 0 {
		return nil
	}
	secrets := s.all()
	raw := &RawResponse{HTTPStatus: r.Status, RequestIDs: secrets.RequestIDs(r.Header)}
	raw.Body, raw.Truncated = secrets.Body(r.Body, maxBody)
	return raw
}
