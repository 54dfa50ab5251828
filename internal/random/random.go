// Package random is the only source of randomness of the client, journal and notify. It draws from crypto/rand, which
// testing/cryptotest can seed: math/rand/v2 has no seed that a test could set. A draw takes some 50 ns and allocates nothing.
package random

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// Float64 returns a number in [0,1).
func Float64() float64 {
	var b [8]byte
	Fill(b[:])
	return float64(binary.LittleEndian.Uint64(b[:])>>11) / (1 << 53)
}

// Pause returns a time between half of d and d, so that many callers who wait for the same thing do not all come back at
// the same time.
func Pause(d time.Duration) time.Duration {
	return d/2 + time.Duration(Float64()*float64(d/2))
}

// Text returns a text that nobody can guess, and that no other call returns.
func Text() string { return rand.Text() }

// Fill fills b with bytes that nobody can guess.
func Fill(b []byte) { _, _ = rand.Read(b) } // never fails
