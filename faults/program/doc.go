// Package program tests the program of docs/program.md: it builds the page's files, runs them against the sandbox, and kills them.
// It has no other code.
package program
