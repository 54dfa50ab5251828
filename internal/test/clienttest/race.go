//go:build race

package clienttest

// RaceDetector says whether the tests run with the race detector, under which measured costs mean nothing.
const RaceDetector = true
