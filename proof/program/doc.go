// Package program does what docs/start.md and docs/program.md tell, and runs the programs of that page and of README.md, the tests of docs/sandbox.md and the
// demonstration of docs/reconcile.md. It has no other code.
package program
