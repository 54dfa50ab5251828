package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// schema is a JSON Schema, or any other JSON object. Numbers are json.Number.
type schema = map[string]any

// clone copies a JSON value.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for name, member := range v {
			c[name] = clone(member)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, element := range v {
			c[i] = clone(element)
		}
		return c
	}
	return v
}

// inline replaces every reference to a component by a copy of it.
func inline(v any, components schema) any {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := strings.CutPrefix(fmt.Sprint(v["$ref"]), "#/components/schemas/"); ok {
			return inline(components[name], components)
		}
		c := make(map[string]any, len(v))
		for name, member := range v {
			c[name] = inline(member, components)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, element := range v {
			c[i] = inline(element, components)
		}
		return c
	}
	return v
}

// merged returns the schema with its allOf merged into it. It is used only to generate values, never to decide what is
// valid.
func merged(s schema) schema {
	parts := subschemas(s, "allOf")
	if parts == nil {
		return s
	}
	all := maps.Clone(s)
	delete(all, "allOf")
	for _, part := range parts {
		for name, value := range merged(part) {
			switch have := all[name].(type) {
			case map[string]any:
				joined := maps.Clone(have)
				for inner, innerValue := range value.(map[string]any) {
					if narrower, ok := joined[inner].(map[string]any); ok && name == "properties" {
						both := maps.Clone(narrower)
						maps.Copy(both, innerValue.(map[string]any))
						innerValue = both
					}
					joined[inner] = innerValue
				}
				all[name] = joined
			case []any:
				if name != "required" { // the narrower one
					all[name] = value
					break
				}
				all[name] = append(slices.Clone(have), value.([]any)...)
			default:
				all[name] = value
			}
		}
	}
	return all
}

func subschemas(s schema, keyword string) (list []schema) {
	elements, _ := s[keyword].([]any)
	for _, element := range elements {
		list = append(list, element.(map[string]any))
	}
	return list
}

func properties(s schema) map[string]any {
	p, _ := s["properties"].(map[string]any)
	return p
}

func requires(s schema, name string) bool {
	required, _ := s["required"].([]any)
	return slices.Contains(required, any(name))
}

// closed returns a copy of the schema in which no object may have undescribed members. The description itself is open, but
// what the two sides of this repository send must be described completely.
func closed(s schema) schema {
	c := clone(s).(schema)
	closeObjects(c, true)
	return c
}

func closeObjects(s schema, here bool) {
	if here && (s["properties"] != nil || s["allOf"] != nil) {
		s["unevaluatedProperties"] = false
	}
	for _, p := range properties(s) {
		closeObjects(p.(schema), true)
	}
	if items, ok := s["items"].(schema); ok {
		closeObjects(items, true)
	}
	for _, branch := range subschemas(s, "anyOf") {
		closeObjects(branch, true)
	}
	for _, part := range subschemas(s, "allOf") {
		closeObjects(part, false)
	}
}

// withPublished returns a copy of the schema narrowed by what is published beyond the interface.
func withPublished(s schema) schema {
	c := clone(s).(schema)
	narrow(c)
	return c
}

func narrow(node any) {
	switch node := node.(type) {
	case map[string]any:
		for _, value := range node {
			narrow(value)
		}
		if more, ok := node["x-published"].(map[string]any); ok {
			delete(node, "x-published")
			node["allOf"] = append([]any{more}, asList(node["allOf"])...)
		}
	case []any:
		for _, value := range node {
			narrow(value)
		}
	}
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// path leads to a member of a JSON value: names of members, and positions in arrays as numbers.
type path []any

func (p path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// name is the last name on the path.
func (p path) name() string {
	for _, step := range slices.Backward(p) {
		if name, ok := step.(string); ok {
			return name
		}
	}
	return ""
}

func (p path) then(step any) path { return append(slices.Clone(p), step) }

// absent is the value of a missing member.
type absent struct{}

// with returns a copy of the document in which the value at p is replaced, or missing. If the parent of p does not exist,
// ok is false.
func with(doc any, p path, value any) (changed any, ok bool) {
	if len(p) == 0 {
		return value, true
	}
	switch step := p[0].(type) {
	case string:
		object, is := doc.(map[string]any)
		if !is {
			return nil, false
		}
		c := maps.Clone(object)
		if _, remove := value.(absent); remove && len(p) == 1 {
			delete(c, step)
			return c, true
		}
		if len(p) > 1 && c[step] == nil {
			return nil, false
		}
		c[step], ok = with(c[step], p[1:], value)
		return c, ok
	case int:
		array, is := doc.([]any)
		if !is || step >= len(array) {
			return nil, false
		}
		c := slices.Clone(array)
		c[step], ok = with(c[step], p[1:], value)
		return c, ok
	}
	return nil, false
}

// place is a member that a schema describes.
type place struct {
	path     path
	schema   schema // of the member, merged
	required bool
}

// places returns the members of a schema and of nested schemas. For an array, the first element represents all.
func places(s schema, at path) (list []place) {
	s = merged(s)
	for _, name := range slices.Sorted(maps.Keys(properties(s))) {
		p := at.then(name)
		list = append(list, place{p, merged(properties(s)[name].(schema)), requires(s, name)})
		list = append(list, places(properties(s)[name].(schema), p)...)
	}
	if items, ok := s["items"].(schema); ok {
		list = append(list, places(items, at.then(0))...)
	}
	return list
}

func number(s schema, keyword string) (n int, ok bool) {
	text, ok := s[keyword].(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text.String())
	return n, err == nil
}
