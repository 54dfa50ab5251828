package redact

import (
	"encoding/json"

	"github.com/cardgateway/cardgateway-go/internal/escape"
	"github.com/cardgateway/cardgateway-go/internal/mask"
)

// Masker removes the secrets of one call from a result, one kind of member after another.
//
// Credentials may be short words. Outside of errors, only long ones are searched for, so that no harmless word is lost.
type Masker struct {
	Sent        Secrets // the card number or the token
	Credentials Secrets // set by the Authenticate hook
	InError     bool    // the result is part of an error: everything that could be a card number is masked, too
}

// IsIdle reports whether there is nothing to remove, as in most pages of a search.
func (m Masker) IsIdle() bool { return len(m.Sent) == 0 && len(m.Credentials) == 0 && !m.InError }

// minCredential is the minimum length of credentials to search for in the gateway's texts.
func (m Masker) minCredential() int {
	if m.InError {
		return MinText
	}
	return MinID
}

// IDs masks identifiers. They must not be changed by chance, and no credential is expected in them.
func (m Masker) IDs(ids ...*string) {
	for _, id := range ids {
		m.Sent.Redact(id, MinID)
	}
}

// Messages masks the gateway's texts.
func (m Masker) Messages(messages ...*string) {
	for _, message := range messages {
		m.text(message, m.minCredential())
	}
}

// Texts masks other members that can contain any text.
func (m Masker) Texts(texts ...*string) {
	for _, text := range texts {
		m.text(text, MinID)
	}
}

func (m Masker) text(text *string, minCredential int) {
	m.Credentials.Redact(text, minCredential)
	m.Sent.Redact(text, MinText)
	if m.InError {
		*text = mask.CardData(*text)
	}
}

// URLMember holds the address of the hosted page. If it cannot be read, it is a member that has no field.
const URLMember = "redirectUrl"

// URL masks redirectUrl. In an error it is removed, because nobody is redirected any more, and it may contain the token in
// another encoding.
func (m Masker) URL(url *string) {
	if m.InError {
		*url = ""
	}
}

// Members replaces the members of a result that have no field, if the name or the value contains a secret, however it is escaped,
// or in an error what could be a card number, or is an address of the hosted page.
func (m Masker) Members(members map[string]json.RawMessage) {
	hidden := func(text string) string {
		m.Sent.Redact(&text, MinText)
		m.Credentials.Redact(&text, m.minCredential())
		if m.InError {
			text = mask.Digits(text)
		}
		return text
	}
	for name, value := range members {
		text := escape.JSON(value)
		if shown := hidden(name); shown != name || hidden(text) != text || m.InError && name == URLMember {
			delete(members, name)
			members[shown] = WithheldValue()
		}
	}
}

// AddressMembers replaces the members of an address that have no field; those from a response are JSON. If a card number or a token was
// sent, and in an error, they are removed.
func (m Masker) AddressMembers(members *map[string]any) {
	if len(m.Sent) > 0 || m.InError {
		*members = nil
	}
	for name, value := range *members {
		if raw, ok := value.(json.RawMessage); ok && m.Credentials.Find(escape.JSON(raw), MinID) {
			(*members)[name] = WithheldValue()
		}
	}
}
