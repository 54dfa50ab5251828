package wire

import (
	"encoding/binary"
	"math/bits"
)

// plainPrefix returns the index, from start on, of the first byte of d that is a quote, a backslash, a control character or
// not ASCII. It checks eight bytes at a time and leaves the last ones to the caller: if fewer than eight remain and none
// was found, it returns the index of the first of those.
//
// This is SWAR, SIMD within a register. Subtracting 1 from a zero byte sets its top bit, so (w ^ quote) - 1 has the top bit
// set in each byte of w that is a quote, and w - 0x20 in each that is below a space. A borrow can also set the top bit of
// the byte above a match, but never of one below it: the lowest set bit is exact, and only that is used. A byte that is not
// ASCII has its top bit set in w itself.
func plainPrefix(d []byte, start int) int {
	const ones = 0x0101010101010101
	i := start
	for ; i+8 <= len(d); i += 8 {
		w := binary.LittleEndian.Uint64(d[i : i+8]) // d[i:] would check its length again
		quote, backslash := w^('"'*ones), w^('\\'*ones)
		found := (w - 0x20*ones) | (quote - ones) | (backslash - ones) | w
		if found &= 0x80 * ones; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	return i
}
