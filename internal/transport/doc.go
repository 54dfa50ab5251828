// Package transport makes one attempt of a call: it sends a request at most once, proves where it can that a payment was
// not sent, reads the response up to a bound, and reports what it observed. It decides nothing.
package transport
