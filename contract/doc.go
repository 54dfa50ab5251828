// Package contract compares three things for every operation: what the client sends and reads, what the sandbox accepts and
// returns, and the OpenAPI description of the gateway. It is a separate module, so that programs that import the client do
// not depend on the OpenAPI library.
//
// Random values and values at every limit are generated from the description, and the library decides for each whether the
// description allows it. The sandbox and the client must agree. Intended differences are in one list, each with its reason.
// A difference that is not in the list fails the test, and so does an entry that is never needed.
//
// All random values come from one seed, which the flag -seed sets. With CARDGATEWAY_LONG=1 more changes are tested.
//
// The last test changes the description at every place, one at a time, and checks that each change is detected.
package contract
