// Package hash has numbers that look random and are the same in every run: of generated rows, and of choices that
// sandbox.Options.Seed decides.
package hash

// Gamma is the distance of the states of SplitMix64.
const Gamma = 0x9e3779b97f4a7c15

// Mix is the finalizer of SplitMix64: similar inputs give unrelated outputs.
func Mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Fraction returns a number in [0,1) from the upper bits of a hash.
func Fraction(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// Of combines three numbers into one hash.
func Of(a, b, c uint64) uint64 {
	h := Mix(a + Gamma)
	h = Mix(h + b + Gamma)
	return Mix(h + c + Gamma)
}

// Text returns the hash of a text.
func Text(s string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
