package mask

import (
	"strings"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/pattern"
)

// A CVV has three or four digits, which alone would be found everywhere. It is recognized by the name before it, whatever stands
// between the two: the notations of the texts in which it comes have no end. Numbers of one or two digits and escapes may stand there, too.
const (
	cvvMarks = `(?:c[_.-]?v[_.-]?[vcndepx2]|ccv|(?:security|verification)[ _-]?(?:code|value|number|data|no)|card[ _-]?(?:security|verification|sec|code)|` +
		`\bsec[ _-]?code|\bcv[ _-]?(?:code|value|number)|\b(?:card[ _-]?)?(?:csc|cav|cid))(?:[ _-]?[12])?(?:[ _-]?(?:code|value|val|number|num|no|data|s))?`
	cvvChinese = `(?:安全|校[验驗]|[验驗][证證])[码碼]`
	cvvGap     = `(?:[^0-9]|[0-9]{1,2}[^0-9]|\\+u[0-9a-f]{4}|%[0-9a-f]{2}|&#x?[0-9a-f]+;)*?`
	cvvDigits  = `[0-9](?:[ -]?[0-9]){2,3}`
	minCVV     = 3  // digits
	maxCVV     = 7  // bytes of four digits with a mark between each two
	maxCVVGap  = 80 // characters: a limit within the expression would make a hostile text ten times as dear
)

var (
	cvv     = pattern.Of(`(?i)((?:` + cvvMarks + `_*\b|` + cvvChinese + `)` + cvvGap + `)` + cvvDigits + `\b`)
	cvvLast = pattern.Of(`(?i)\b[0-9]{3,4}((?:\\*["']\s[^<>0-9]{0,80}|\s+is\s[^<>0-9]{0,30})` + cvvMarks + `\b)`) // of HTML and sentences
	cvvMark = pattern.Of(`(?i)` + cvvMarks + `_*\b|` + cvvChinese)
	cvvEnd  = pattern.Of(cvvDigits + `$`)
	cvvName = pattern.Of(`(?i)(?:` + cvvMarks + `|` + cvvChinese + `)$`)
)

// cvvOutcome matches what the name of the result of a check has, such as cvvResult.
var cvvOutcome = pattern.Of(`(?i)result|resp|check|status|match|valid|verif|message|reason|error`)

// IsCVVName reports whether a member of this name holds a CVV, and not what came of its check.
func IsCVVName(name string) bool {
	if !mayNameCVV(name) {
		return false
	}
	hasCVV := strings.Contains(strings.ToLower(name), "cvv")
	return hasCVV && !cvvOutcome().MatchString(name) || cvvName().MatchString(strings.TrimRight(name, " \t\r\n_-.:"))
}

// cvvs returns text with every CVV masked that follows its name, or stands before it in the same tag or sentence.
func cvvs(text string) string {
	if !mayNameCVV(text) {
		return text
	}
	return cvvLast().ReplaceAllString(cvv().ReplaceAllStringFunc(text, maskNear), All+"${1}")
}

// maskNear masks the number with which a match of cvv ends, if it is near the last name before it.
func maskNear(match string) string {
	tail := max(0, len(match)-maxCVV)
	number := tail + cvvEnd().FindStringIndex(match[tail:])[0]
	near := match[max(0, number-maxCVVGap*utf8.UTFMax):number]
	names := cvvMark().FindAllStringIndex(near, -1)
	if len(names) == 0 || utf8.RuneCountInString(near[names[len(names)-1][1]:]) > maxCVVGap {
		return match
	}
	return match[:number] + All
}

// mayNameCVV is a quick check, because most texts do not: each English name has a c, and after it a v or one of these pairs.
func mayNameCVV(text string) bool {
	for i := 2; i < len(text); i++ {
		if text[i-2]|0x20 == 'c' && (text[i-1]|0x20 == 'v' || strings.Contains("cv sc av at id ur od _v -v .v", strings.ToLower(text[i-1:i+1]))) {
			return true
		}
	}
	return strings.Contains(text, "码") || strings.Contains(text, "碼")
}
