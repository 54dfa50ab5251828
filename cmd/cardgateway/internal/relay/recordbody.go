package relay

import (
	"encoding/json"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/notify"
)

// formType is the media type of a notification that is a form.
const formType = "application/x-www-form-urlencoded"

// RecordBody returns the members of a notification that was read, without what may not be stored: of published members the
// value, except for tokens and card numbers, and of all others the name alone, since the interface shows neither the
// payload nor the name of the token. The signature is left out: it covers what is masked.
func RecordBody(body []byte, contentType string, n *notify.Notification, h Hidden) (members map[string]json.RawMessage, masked []string) {
	members = bodyMembers(body, contentType)
	delete(members, "sign")
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, ok := storable(name, members[name], n, h)
		if !ok {
			if h.has(name) || mask.HasCardNumber(name) {
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
	if json.Unmarshal(body, &members) != nil {
		return nil
	}
	return members
}

func isForm(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == formType
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
		return value, !mask.HasCardNumber(text)
	case "message", "transactionMessage", "billDescription", "refundMessage":
		return h.Text(text), isText
	}
	return nil, false
}
