package mask

import (
	"regexp"
	"strings"
)

// A CVV has three or four digits, which alone would be found everywhere. It is recognized by the name before it. What stands between
// the two is whatever has no meaning of its own: punctuation, white space, escapes, and the words of JSON, XML, forms and dumps.
const (
	cvvMarks = `(?:cvv|cvc|cvn|cvd|cv2|(?:security|verification)[ _-]?(?:code|value|number)|\b(?:card[ _-]?)?(?:csc|cav|cid))2?(?:[ _-]?(?:code|value|number|num|no|data))?`
	cvvGap   = `(?:[^A-Za-z0-9]|\\+[bfnrt]|\\+u[0-9a-f]{4}|%[0-9a-f]{2}|&(?:[a-z]+|#x?[0-9a-f]+);|\([34]\)|\b[sid]:[34]:|` +
		`\b(?:name|key|member|param|entry|field|value|content|string|str|text|type|int|integer|long|number|xsd|xsi|xs|cdata|hidden|input|is|was|b|u|s|i|n|l)\b){1,60}?`
)

var (
	cvv     = regexp.MustCompile(`(?i)(` + cvvMarks + `\b` + cvvGap + `)[0-9](?:[ -]?[0-9]){2,3}\b`)
	cvvName = regexp.MustCompile(`(?i)` + cvvMarks + `$`)
)

// IsCVVName reports whether a member of this name holds a CVV. What came of its check has another one, such as cvvResult.
func IsCVVName(name string) bool {
	return mayNameCVV(name) && cvvName.MatchString(strings.TrimRight(name, " \t\r\n_-.:"))
}

// cvvs returns text with every CVV masked that follows its name.
func cvvs(text string) string {
	if !mayNameCVV(text) {
		return text
	}
	return cvv.ReplaceAllString(text, "${1}"+All)
}

// mayNameCVV is a quick check, because nearly no text does.
func mayNameCVV(text string) bool {
	for i := 0; i+2 < len(text); i++ {
		switch text[i] | 0x20 {
		case 'c': // cvv, cvc, cvn, cvd, cv2, csc, cav, cid
			if next := text[i+1] | 0x20; next == 'v' || next == 's' || next == 'a' && text[i+2]|0x20 == 'v' || next == 'i' && text[i+2]|0x20 == 'd' {
				return true
			}
		case 'y': // the end of security
			if i >= 7 && strings.EqualFold(text[i-7:i+1], "security") {
				return true
			}
		case 'n': // the end of verification
			if i >= 11 && strings.EqualFold(text[i-11:i+1], "verification") {
				return true
			}
		}
	}
	return false
}
