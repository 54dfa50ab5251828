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

	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// NotificationRequest creates the POST request that the gateway would send to a notificationUrl, for unit tests of a
// merchant's notification handler. It is signed with secretKey unless that is empty. The fields are the members of the
// payload; write numbers wider than 64 bits, such as some appIds, as json.Number. A sign member in fields is replaced; if
// secretKey is empty it is kept, so that a test can forge a signature.
//
// The interface does not document the format of a notification; this is the published one.
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
		values["sign"] = jsonobject.AppendText(nil, sign(secretKey, values))
	}
	return json.Marshal(values)
}

// sign implements the published rule: the SHA-256 of the values of all members except sign, sorted by name and without
// separators, followed by the key. Empty values, objects and arrays are left out.
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
			_ = json.Unmarshal(value, &s) // written by json.Marshal
			h.Write([]byte(s))
		default:
			h.Write(value)
		}
	}
	h.Write([]byte(secretKey))
	return hex.EncodeToString(h.Sum(nil))
}
