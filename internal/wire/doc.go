// Package wire reads and writes the JSON of the gateway: a reader that is strict about syntax, tolerant methods for values
// on top of it, and a writer that writes amounts and texts exactly. It knows no operations and no results.
package wire
