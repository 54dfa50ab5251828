// Package faults tests, with real connections, real databases and killed processes, what the client and its journal
// guarantee about money. It is a separate module, so that programs that import the client do not depend on it.
//
// A Front is a server between the code under test and a gateway of package sandbox. It cuts off and changes requests and
// responses at every point at which a connection can break. The gateway decides what is right: it knows how many times each
// payment moved money. Faults are selected by a seed and the payment's id, so a run can be repeated.
//
// go test runs a short version of everything; CARDGATEWAY_LONG=1 runs it in full. The table in docs/money.md is printed by
//
//	go run ./cmd/faults
package faults
