package redact

import (
	"net/http"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/mask"
)

// Mask returns a text of any kind with the secrets, and card numbers, masked.
func (s Secrets) Mask(text string) string {
	s.Redact(&text, MinText)
	return mask.Digits(text)
}

// Body returns the first longest bytes of a response's body as a text, masked, and whether there is more.
func (s Secrets) Body(body []byte, longest int) (text string, truncated bool) {
	kept := body[:min(len(body), longest)]
	return s.Mask(strings.ToValidUTF8(string(kept), "\uFFFD")), len(kept) < len(body)
}

// RequestIDs returns the headers of a response by which the gateway, or a proxy before it, names the request, masked.
func (s Secrets) RequestIDs(header http.Header) http.Header {
	ids := make(http.Header)
	for name, values := range header {
		if namesRequest(strings.ToLower(name)) {
			for _, value := range values {
				ids.Add(name, s.Mask(value))
			}
		}
	}
	return ids
}

func namesRequest(header string) bool {
	return strings.HasSuffix(header, "-id") || strings.HasSuffix(header, "-ray") || strings.Contains(header, "trace")
}
