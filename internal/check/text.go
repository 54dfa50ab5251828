package check

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/internal/iso3166"
)

// NoLimit is the limit of a text for which the interface states none.
const NoLimit = 0

// Text checks a text member that is given: valid UTF-8, and where the interface states a limit at most that many
// characters and no control characters. Texts without a limit, such as an address, may have several lines.
func (v *Violations) Text(member, s string, limit int) {
	if ascii.IsPrintable(s) && (limit == NoLimit || len(s) <= limit) { // nearly all
		return
	}
	switch n := utf8.RuneCountInString(s); {
	case !utf8.ValidString(s):
		v.Add(member, RuleFormat, "is not valid UTF-8")
	case limit != NoLimit && !IsPlainText(s):
		v.Add(member, RuleFormat, "has control characters")
	case limit != NoLimit && n > limit:
		v.Add(member, RuleLength, "has %d characters, at most %d are allowed", n, limit)
	}
}

// NewID checks an identifier that is sent for the first time: it must not have at its ends what nobody sees.
func (v *Violations) NewID(member, s string, limit int) {
	isUnseen := func(c rune) bool { return unicode.IsSpace(c) || c >= utf8.RuneSelf && unicode.Is(unicode.Cf, c) }
	before := v.Len()
	if v.ID(member, s, limit); v.Len() == before && strings.TrimFunc(s, isUnseen) != s {
		v.Add(member, RuleFormat, "has white space at its ends")
	}
}

// ID checks an identifier or a name that is given: a text that is not only white space.
func (v *Violations) ID(member, s string, limit int) {
	v.Text(member, s, limit)
	if strings.TrimSpace(s) == "" {
		v.Add(member, RuleFormat, "is only white space")
	}
}

// IsPlainText reports whether s is valid UTF-8 without control characters.
func IsPlainText(s string) bool {
	return ascii.IsPrintable(s) || utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// ExtraName checks the name of a member that the caller adds by himself: it must be plain text, and no member that has a
// field, nor one of a card, also not in other letters or with marks, such as card_number. It reports whether it is fit.
func (v *Violations) ExtraName(name string, named, ofCard []string) bool {
	bare := strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, name)
	same := func(other string) bool { return strings.EqualFold(other, bare) }
	switch {
	case name == "" || !IsPlainText(name):
		v.Add("extra", RuleFormat, "has a key that is empty or not plain text")
	case slices.ContainsFunc(named, same):
		v.Add(name, RuleReserved, "is a member of the interface and must be set by its field")
	case slices.ContainsFunc(ofCard, same):
		v.Add(name, RuleReserved, "is a member of the card, which CreateSubscription alone takes")
	default:
		return true
	}
	return false
}

// UpperCase checks a code of so many capital letters, and reports whether it is one.
func (v *Violations) UpperCase(member, s string, length int) bool {
	ok := len(s) == length && ascii.IsUpper(s)
	v.AddIf(!ok, member, RuleFormat, "must be %d capital letters", length)
	return ok
}

// Country checks a code of two capital letters, which must be in ISO 3166-1 unless any may be given.
func (v *Violations) Country(member, s string, any bool) {
	if v.UpperCase(member, s, 2) && !any {
		v.AddIf(!iso3166.IsCountry(s), member, RuleFormat, "is not a country of ISO 3166-1")
	}
}

// Digits reports whether s has only digits and as many as are allowed, and adds a violation where it does not.
func (v *Violations) Digits(member, s string, minDigits, maxDigits int) bool {
	ok := minDigits <= len(s) && len(s) <= maxDigits && ascii.IsDigits(s)
	v.DigitCount(member, ok, minDigits, maxDigits)
	return ok
}

// DigitCount adds a violation that says how many digits a member must have, unless the caller has found it ok. It is for
// secrets, which this package does not see.
func (v *Violations) DigitCount(member string, ok bool, minDigits, maxDigits int) {
	switch {
	case ok:
	case minDigits == maxDigits:
		v.Add(member, RuleFormat, "must be %d digits", minDigits)
	default:
		v.Add(member, RuleFormat, "must be %d to %d digits", minDigits, maxDigits)
	}
}

// PathElement checks that a text, which must be given, can stand as one element of a path. The limit is in bytes.
func (v *Violations) PathElement(member, s string, limit int) {
	switch {
	case s == "":
		v.Add(member, RuleRequired, "is required")
	case len(s) > limit:
		v.Add(member, RuleLength, "has more than %d bytes", limit)
	case s == "." || s == "..":
		v.Add(member, RuleFormat, "is a relative path element")
	case !IsPlainText(s):
		v.Add(member, RuleFormat, "has control characters or is not valid UTF-8")
	}
}
