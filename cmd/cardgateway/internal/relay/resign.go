package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

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
