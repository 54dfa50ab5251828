// Package faults tests what the client and its journal guarantee for payments and refunds, with real connections, real
// databases and real process kills. It is a separate module, so that programs that import the client do not link it.
//
// A Front stands between the code under test and a gateway of package sandbox. It cuts and changes connections at every
// point at which they can break. The sandbox counts how often each payment moved money, and results are checked against
// that count. A seed and the payment's id decide which fault a payment meets, so that a run can be repeated.
//
// go test runs everything in a short form; CARDGATEWAY_LONG=1 runs it in full. With -v it logs the tables of RESULTS.md, and
// with -write it replaces them there.
package faults
