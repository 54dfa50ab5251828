package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// params are the named values of a control request: the members of a JSON object, the fields of a form, or a query. The
// methods record problems, and the known names, for check.
type params struct {
	values   map[string]string
	known    []string
	problems []string
}

// jsonParams reads an object of strings, numbers and booleans. An empty body is an empty object.
func jsonParams(body []byte) (*params, error) {
	p := &params{values: make(map[string]string)}
	if len(body) == 0 {
		return p, nil
	}
	m, err := jsonobject.Members(body)
	if err != nil {
		return nil, err
	}
	for name, value := range m {
		var s string
		switch {
		case json.Unmarshal(value, &s) == nil:
			p.values[name] = s
		case value[0] == '{' || value[0] == '[':
			return nil, fmt.Errorf("%.40q must be a string, a number or a boolean", name)
		default:
			p.values[name] = string(value)
		}
	}
	return p, nil
}

func formParams(form url.Values) *params {
	p := &params{values: make(map[string]string)}
	for name, values := range form {
		p.values[name] = values[0]
	}
	return p
}

func (p *params) text(name string) string {
	p.known = append(p.known, name)
	return p.values[name]
}

func (p *params) truth(name string, usual bool) bool {
	switch s := p.text(name); s {
	case "":
		return usual
	case "true", "false":
		return s == "true"
	}
	p.problems = append(p.problems, name+" is neither true nor false")
	return usual
}

// number reads a number from 0 to most.
func (p *params) number(name string, usual, most int) int {
	s := p.text(name)
	if s == "" {
		return usual
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > most {
		p.problems = append(p.problems, fmt.Sprintf("%s is not a number from 0 to %d", name, most))
		return usual
	}
	return n
}

// duration reads a duration from 0 to most.
func (p *params) duration(name string, usual, most time.Duration) time.Duration {
	s := p.text(name)
	if s == "" {
		return usual
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > most {
		p.problems = append(p.problems, fmt.Sprintf(`%s is not a duration such as "5s", of at most %v`, name, most))
		return usual
	}
	return d
}

func (p *params) time(name string) time.Time {
	t, err := time.Parse(time.RFC3339, p.text(name))
	if err != nil {
		p.problems = append(p.problems, name+" is not a time such as 2026-01-31T12:00:00Z")
	}
	return t
}

// choice reads the name of a value.
func (p *params) choice(name string, into interface{ UnmarshalText([]byte) error }) {
	if s := p.text(name); s != "" {
		if err := into.UnmarshalText([]byte(s)); err != nil {
			p.problems = append(p.problems, name+": "+err.Error())
		}
	}
}

// check returns the first problem. An unknown name is one, too.
func (p *params) check() error {
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if !slices.Contains(p.known, name) {
			return badRequest(unknownMember(name, p.known).Error())
		}
	}
	if p.problems != nil {
		return badRequest(p.problems[0])
	}
	return nil
}

// controlError is an error of the control API, with its HTTP status and a hint.
type controlError struct {
	status     int
	text, hint string
}

func (e *controlError) Error() string { return e.text }

func badRequest(text string) error {
	return &controlError{http.StatusBadRequest, text, "docs/sandbox.md lists the members of every request"}
}
