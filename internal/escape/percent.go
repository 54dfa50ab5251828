package escape

import (
	"encoding/hex"
	"strings"
)

// Percent returns text with every well-formed percent-escape decoded; everything else is unchanged.
func Percent(text string) string {
	escape := strings.IndexByte(text, '%')
	if escape < 0 {
		return text
	}
	plain := append(make([]byte, 0, len(text)), text[:escape]...)
	for i := escape; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				plain = append(plain, c...)
				i += 2
				continue
			}
		}
		plain = append(plain, text[i])
	}
	return string(plain)
}
