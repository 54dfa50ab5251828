// Package contract holds three things against each other for every operation: what the client sends and reads, what the
// sandbox takes and gives, and the OpenAPI description of the gateway. It is a module of its own, so that whoever
// imports the client links none of the OpenAPI library.
//
// Random values and values at every limit come from the description, and the library says of each whether the
// description allows it. The sandbox and the client have to say the same. Differences that are meant are in one list,
// each with its reason; a difference that is not in the list fails the test, and so does an entry that nothing needs.
//
// Everything random comes from one seed, which the flag -seed changes. With CARDGATEWAY_LONG=1 more is planted.
//
// The last test changes the description in every place, one at a time, and shows that each change is found.
package contract
