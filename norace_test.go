//go:build !race

package cardgateway

const raceDetector = false
