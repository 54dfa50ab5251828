// Package transport makes one attempt of a call: it sends a request at most once, proves if possible that a payment was not
// sent, reads the response up to a limit, and reports what it observed. It makes no decisions.
package transport
