// Package check has the general rules for the values of a request, and collects violations. It knows strings, numbers,
// addresses and times. Its caller determines which member must obey which rule, and within which limits.
package check

import (
	"context"
	"fmt"
)

// Rules that a Problem can name. They are those of the root package.
const (
	RuleRequired = "required"
	RuleLength   = "length"
	RuleFormat   = "format"
	RuleRange    = "range"
	RuleReserved = "reserved"
)

// Problem is one violated rule. It has the same fields as the root package's type, so that it can be converted.
type Problem struct {
	Field   string // the member's name in the interface, such as productInfos[0].price, or the Go field if it has none
	Rule    string // one of the Rule constants
	Message string // the rule in words; never the value
}

// Violations collects every violation of one request, in the order of the checks. Each check takes the member's name in the
// interface. The zero value is empty.
type Violations struct{ found []Problem }

// Problems returns the violations that were found.
func (v *Violations) Problems() []Problem { return v.found }

// Len returns how many violations were found.
func (v *Violations) Len() int { return len(v.found) }

// Add adds a violation of a rule that the caller has checked. The message must not show the value.
func (v *Violations) Add(member, rule, format string, args ...any) {
	v.found = append(v.found, Problem{Field: member, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// AddIf adds a violation if a rule is violated.
func (v *Violations) AddIf(violated bool, member, rule, format string, args ...any) {
	if violated {
		v.Add(member, rule, format, args...)
	}
}

// Prefix adds the path of the enclosing object to the members of all violations except the first n.
func (v *Violations) Prefix(path string, n int) {
	for i := n; i < len(v.found); i++ {
		v.found[i].Field = path + "." + v.found[i].Field
	}
}

// Presence says whether a member is required.
type Presence bool

// Optional and Required are the two kinds of members.
const (
	Optional Presence = false
	Required Presence = true
)

// Require reports whether a value is given, and adds a violation if it is required and missing.
func (v *Violations) Require(member string, given bool, p Presence) bool {
	if !given && p == Required {
		v.Add(member, RuleRequired, "is required")
	}
	return given
}

// Context checks that ctx is not nil: a nil context would panic when it is no longer known whether something was sent.
func (v *Violations) Context(ctx context.Context) {
	if ctx == nil {
		v.Add("ctx", RuleRequired, "must not be nil")
	}
}
