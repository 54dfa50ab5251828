// Package pattern compiles regular expressions at their first use. Most programs never need those of refusals and of CVVs, which are
// large: each garbage collection would look through them.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns a function that returns the regular expression, compiled once.
func Of(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
