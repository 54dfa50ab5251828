// Package doctest tests the documentation: every Go snippet on a Markdown page compiles and runs, every link between pages has a target, and
// files and functions named on a page exist. It has no other code.
package doctest
