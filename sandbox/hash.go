package sandbox

const splitMix64Gamma = 0x9e3779b97f4a7c15

// splitMix64 is the finalizer of SplitMix64: similar inputs give unrelated outputs.
func splitMix64(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// fraction returns a number in [0,1) from the upper bits of a hash.
func fraction(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// hash combines three numbers into one hash.
func hash(a, b, c uint64) uint64 {
	h := splitMix64(a + splitMix64Gamma)
	h = splitMix64(h + b + splitMix64Gamma)
	return splitMix64(h + c + splitMix64Gamma)
}

func hashText(s string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
