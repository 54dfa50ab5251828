// Package wire reads and writes the JSON of the gateway: a strict reader of syntax, tolerant values on top of it, and a
// writer that writes amounts and texts exactly. It knows no operation and no result.
package wire
