// Package doctest holds the pages to the code: its tests check that every Go snippet on a Markdown page compiles, that every
// link between pages leads somewhere, and that files and functions which a page names exist. It has no other code.
package doctest
