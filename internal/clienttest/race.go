//go:build race

package clienttest

// RaceDetector says that the tests run under it: costs are then not what they are.
const RaceDetector = true
