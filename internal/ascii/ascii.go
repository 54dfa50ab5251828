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
	if len(s) < 8 {
		for i := range len(s) {
			if s[i] < ' ' || s[i] > '~' {
				return false
			}
		}
		return true
	}
	last := len(s) - 8 // start of the last eight bytes, which may overlap the ones before
	for i := 0; i < last; i += 8 {
		if !arePrintable(eight(s, i)) {
			return false
		}
	}
	return arePrintable(eight(s, last))
}

// eight returns eight bytes of s. The compiler turns it into one load.
func eight[T Text](s T, i int) uint64 {
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// arePrintable reports whether each of eight bytes is printable. Subtracting 0x20 sets the top bit of a byte below a space.
// Subtracting 1 sets that of a byte which the exclusive or has made zero, which is 0x7f. A byte that is not ASCII already
// has it set. A borrow can set the top bit of another byte only if there is one of these below it, so the result is exact.
func arePrintable(w uint64) bool {
	const ones = 0x0101010101010101
	return (w|(w-0x20*ones)|((w^0x7f*ones)-ones))&(0x80*ones) == 0
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
