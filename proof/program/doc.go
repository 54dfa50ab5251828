// Package program tests the program of docs/program.md: it builds the page's files, runs them against the sandbox, and kills them.
// It does what docs/start.md tells, and runs the programs of that page and of README.md, the tests of docs/sandbox.md and the
// demonstration of docs/reconcile.md. It has no other code.
package program
