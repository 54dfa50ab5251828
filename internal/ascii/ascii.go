// Package ascii has predicates for texts with rules that only concern ASCII.
package ascii

// Text is a string or a byte slice.
type Text interface{ ~string | ~[]byte }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsAlphanumeric reports whether c is a letter or a digit.
func IsAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || IsDigit(c)
}

// IsDigits reports whether s is one or more digits and nothing else.
func IsDigits[T Text](s T) bool {
	for i := range len(s) {
		if !IsDigit(s[i]) {
			return false
		}
	}
	return len(s) > 0
}

// IsUpper reports whether s is one or more capital letters and nothing else.
func IsUpper[T Text](s T) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return len(s) > 0
}

// IsPrintable reports whether s has only the characters from space to tilde.
func IsPrintable[T Text](s T) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// CountDigits counts the digits in s.
func CountDigits[T Text](s T) (n int) {
	for i := range len(s) {
		if IsDigit(s[i]) {
			n++
		}
	}
	return n
}
