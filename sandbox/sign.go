package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// NotificationRequest builds the POST that the gateway would send to a notificationUrl, signed with the secretKey
// unless that is empty, for unit tests of a merchant's notification handler. The fields are the members of the
// payload; write numbers wider than 64 bits, such as some appIds, as json.Number. A sign member among them is
// replaced, or kept as it is if secretKey is empty, which is how a test forges one.
//
// The interface does not show what a notification looks like; this is the published form.
func NotificationRequest(url, secretKey string, fields map[string]any) (*http.Request, error) {
	body, err := notificationBody(secretKey, fields)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("sandbox: notification: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

func notificationBody(secretKey string, fields map[string]any) ([]byte, error) {
	values := make(map[string]json.RawMessage, len(fields)+1)
	for name, value := range fields {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("sandbox: notification member %q: %w", name, err)
		}
		values[name] = text
	}
	if secretKey != "" {
		values["sign"] = appendText(nil, sign(secretKey, values))
	}
	return json.Marshal(values)
}

// sign is the published rule: the values of all members but sign, in the order of their names and without anything
// between them, then the key; of that the SHA-256. Empty values do not count, and neither do objects and arrays.
func sign(secretKey string, values map[string]json.RawMessage) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == "sign" {
			continue
		}
		value := values[name]
		switch value[0] {
		case '{', '[', 'n': // n as in null
		case '"':
			var s string
			_ = json.Unmarshal(value, &s) // json.Marshal has just made it
			h.Write([]byte(s))
		default:
			h.Write(value)
		}
	}
	h.Write([]byte(secretKey))
	return hex.EncodeToString(h.Sum(nil))
}
