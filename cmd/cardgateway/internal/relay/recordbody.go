package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// RecordBody returns the members of a notification that was read, without what may not be stored: of published members the
// value, except for tokens and card numbers, and of all others the name alone, since the interface shows neither the
// payload nor the name of the token. The signature is left out: it covers what is masked.
func RecordBody(body []byte, contentType string, n *notify.Notification, h Hidden) (members map[string]json.RawMessage, masked []string) {
	members = bodyMembers(body, contentType)
	delete(members, "sign")
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, ok := storable(name, members[name], n, h)
		if !ok {
			if h.Text(name) != name {
				delete(members, name)
				name = mask.All
			}
			masked = append(masked, name)
			value = mask.All
		}
		members[name], _ = json.Marshal(value) // of a text, or of JSON that was read
	}
	return members, masked
}

// bodyMembers reads the members of a body that notify has read. Those of a form are texts.
func bodyMembers(body []byte, contentType string) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	if isForm(contentType) {
		form, _ := url.ParseQuery(strings.TrimSpace(string(body)))
		for name, values := range form {
			members[name], _ = json.Marshal(values[0]) // notify refuses repeated members
		}
		return members
	}
	body = []byte(string([]rune(string(body)))) // a record is UTF-8; each other byte becomes U+FFFD, as in the texts that notify reads
	_ = json.Unmarshal(body, &members)          // notify has read it
	return members
}

func isForm(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/x-www-form-urlencoded"
}

// storable returns the value of a member as it may be stored, and whether it may.
func storable(name string, value json.RawMessage, n *notify.Notification, h Hidden) (any, bool) {
	text := string(value)
	if text == "null" {
		return value, true
	}
	isText := json.Unmarshal(value, &text) == nil
	if !isText && strings.ContainsAny(text[:1], "{[") || h.has(text) {
		return nil, false
	}
	switch name {
	case "appId", "uniqueId", "transactionId", "refundUniqueId", "merchantRefundId", "timestamp": // have as many digits as a card number
		return value, true
	case "transactionCardNumber":
		return string(n.Claimed.TransactionCardNumber), n.Claimed.TransactionCardNumber != ""
	case "transactionType", "code", "isTest", "transactionAmount", "transactionCurrency", "refundAmount", "refundCurrency",
		"chargebackAmount", "chargebackCurrency":
		return value, h.Text(text) == text
	case "message", "transactionMessage", "billDescription", "refundMessage":
		return h.Text(text), isText
	}
	return nil, false
}

// Signed creates the body of a recorded notification again, without the masked members, and signs it.
func Signed(d *Recorded, secretKey string) ([]byte, error) {
	fields := map[string]any{}
	for name, value := range d.Body {
		if !slices.Contains(d.Masked, name) {
			fields[name] = value
		}
	}
	r, err := sandbox.NotificationRequest("http://localhost/", secretKey, fields)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || !isForm(d.ContentType) {
		return body, err
	}
	return formOf(body)
}

// formOf encodes a JSON object of strings as a form.
func formOf(body []byte) ([]byte, error) {
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		return nil, err
	}
	form := url.Values{}
	for name, value := range members {
		if value != nil {
			form.Set(name, fmt.Sprint(value))
		}
	}
	return []byte(form.Encode()), nil
}
