// Package clienttest has what the tests of the client share: a valid request for each payment operation, servers and
// transports that respond by hand, a till that counts the payments which a server has executed, and searches for what a
// call has left behind. It is for tests alone.
package clienttest
