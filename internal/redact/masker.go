package redact

import (
	"encoding/json"

	"github.com/cardgateway/cardgateway-go/internal/mask"
)

// Masker takes the secrets of one call out of a result, one kind of member after another.
//
// Credentials are short words at times. Where all is well, only long ones are looked for, so that no harmless word is
// lost.
type Masker struct {
	Sent        Secrets // the card number or the token
	Credentials Secrets // what the Authenticate hook has set
	InError     bool    // an error keeps the result: every text that could hold a card number is masked too
}

// IsNeeded reports whether there is anything to look for.
func (m Masker) IsNeeded() bool { return m.InError || len(m.Sent)+len(m.Credentials) > 0 }

// minCredential is how long credentials must be to be looked for where the gateway writes in its own words.
func (m Masker) minCredential() int {
	if m.InError {
		return MinText
	}
	return MinID
}

// IDs are identifiers. They must not be harmed by chance, and no credential is expected in them.
func (m Masker) IDs(ids ...*string) {
	for _, id := range ids {
		m.Sent.Redact(id, MinID)
	}
}

// Messages are texts in the gateway's own words.
func (m Masker) Messages(messages ...*string) {
	for _, message := range messages {
		m.text(message, m.minCredential())
	}
}

// Texts are other members that can hold any text.
func (m Masker) Texts(texts ...*string) {
	for _, text := range texts {
		m.text(text, MinID)
	}
}

func (m Masker) text(text *string, minCredential int) {
	m.Credentials.Redact(text, minCredential)
	m.Sent.Redact(text, MinText)
	if m.InError {
		*text = mask.Digits(*text)
	}
}

// URL is an address to which the cardholder is sent. In an error it goes, since nobody is sent there any more, and it may
// hold the token in yet another spelling.
func (m Masker) URL(url *string) {
	if m.InError {
		*url = ""
	}
}

// Members are those of a result that have no field.
func (m Masker) Members(members map[string]json.RawMessage) {
	if m.InError {
		MaskMembers(members)
	}
	m.Sent.RedactMembers(members, MinText)
	m.Credentials.RedactMembers(members, m.minCredential())
}

// AddressMembers are those of an address that have no field. Beside a card number or a token, and in an error, they go:
// what was not asked for is not worth a search.
func (m Masker) AddressMembers(members *map[string]any) {
	if len(m.Sent) > 0 || m.InError {
		*members = nil
		return
	}
	m.Credentials.RedactAnyMembers(*members, MinID)
}
