// Package clienttest has what the tests of the client share: a valid request for each payment operation, servers and
// transports with handwritten responses, a Till that counts the payments which a server has executed, and searches for
// leaked secrets and goroutines. It is only for tests.
package clienttest
