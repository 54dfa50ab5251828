// Package faults proves, with real connections, real databases and real kills, what the client and its journal
// promise about money. It is a module of its own, so that whoever imports the client links none of it.
//
// A Front stands between the code under test and a gateway of package sandbox, and cuts and twists connections at
// every point at which they can break. The gateway is the judge: it knows how often each payment moved money. What
// goes wrong is drawn from a seed and the payment's id, so that a run can be repeated.
//
// go test runs everything in a short form; CARDGATEWAY_LONG=1 runs it in full. The table that docs/money.md quotes is
// printed by
//
//	go run ./cmd/faults
package faults
