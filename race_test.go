//go:build race

package cardgateway

// raceDetector says that the tests run under it: costs are then not what they are.
const raceDetector = true
