// Package check has the general rules for the values of a request, and collects what violates them. It knows texts,
// numbers, addresses and times. Which member must obey which rule, and within which limits, says its caller.
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

// Problem is one violated rule. It has the fields of the root's type, so that the one can be converted to the other.
type Problem struct {
	Field   string // the member as the interface names it, such as productInfos[0].price, or the Go field where it has none
	Rule    string // one of the Rule constants
	Message string // the rule in words; never the value
}

// Violations collects every violation of one request, in the order of the checks. Each check takes the member's name as
// the interface spells it. The zero value has none.
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

// Prefix puts the path of the object that they are in before the members of all violations but the first n.
func (v *Violations) Prefix(path string, n int) {
	for i := n; i < len(v.found); i++ {
		v.found[i].Field = path + "." + v.found[i].Field
	}
}

// Presence says whether a member must be given.
type Presence bool

// Optional and Required are the two kinds of members.
const (
	Optional Presence = false
	Required Presence = true
)

// Require reports whether a value is given, and adds a violation where it is required and is not.
func (v *Violations) Require(member string, given bool, p Presence) bool {
	if !given && p == Required {
		v.Add(member, RuleRequired, "is required")
	}
	return given
}

// Context checks that there is one: a nil context would panic where nobody can tell any more whether something was sent.
func (v *Violations) Context(ctx context.Context) {
	if ctx == nil {
		v.Add("ctx", RuleRequired, "must not be nil")
	}
}
