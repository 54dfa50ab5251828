package clienttest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// forms returns the encodings of a secret to search for: an encoded secret is leaked, too.
func forms(secret string) []string {
	var bytes, hexBytes []string
	for _, b := range []byte(secret) {
		bytes = append(bytes, strconv.Itoa(int(b)))
		hexBytes = append(hexBytes, fmt.Sprintf("%#x", b))
	}
	quoted, _ := json.Marshal(secret)
	list := []string{
		secret, hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
		base64.StdEncoding.EncodeToString([]byte(secret))[:len(secret)], strings.Join(bytes, " "), strings.Join(bytes, ","),
		strings.Join(hexBytes, ", "), url.PathEscape(secret), url.QueryEscape(secret), string(quoted[1 : len(quoted)-1]),
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Leaked returns the forms of the secrets that occur in text.
func Leaked(text string, secrets ...string) (found []string) {
	for _, secret := range secrets {
		for _, form := range forms(secret) {
			if strings.Contains(text, form) {
				found = append(found, form)
			}
		}
	}
	return found
}
