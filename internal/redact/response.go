package redact

import (
	"net/http"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// Mask returns a text with the secrets and card numbers masked.
func (s Secrets) Mask(text string) string {
	s.Redact(&text, MinText)
	return mask.Digits(text)
}

// Body returns the first longest bytes of a response's body as text, masked, and whether there is more. It masks more than
// it returns, because the first part of a secret that is cut in two would not be found.
func (s Secrets) Body(body []byte, longest int) (text string, truncated bool) {
	looked := body[:min(len(body), 2*longest)]
	text = s.Mask(mask.CVV(wire.PlainASCII(validUTF8(string(looked)))))
	end := len(text)
	if len(looked) < len(body) {
		end = max(0, end-longest) // the rest may contain the first part of a secret, however much was masked before
	}
	kept := text[:min(end, longest)]
	return validUTF8(kept), len(kept) < len(text)
}

func validUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// CardNumberMember holds the card number, which a gateway may send unmasked.
const CardNumberMember = "transactionCardNumber"

// IsCardData reports whether a member that was not read must not be kept: it is the card number, which cannot be masked then, or
// a CVV, or has one as a member.
func IsCardData(name string, value []byte) bool {
	member := name + ":" + wire.PlainASCII(string(value))
	return name == CardNumberMember || mask.CVV(member) != member
}

// RequestIDs returns the headers of a response with which the gateway, or a proxy, identifies the request, masked.
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
