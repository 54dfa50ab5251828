package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// table is what these tests read of testdata/interface.json.
type table struct {
	Operations, PublishedOperations []operation
	Objects                         map[string][]member
}

type operation struct {
	Name, Method, Path, Body string
	Members                  []member
}

type member struct {
	Name, Type, Required, Object, In string
	Limit                            int
	RequiredIn                       []string
}

func tableOf(t *testing.T) (tab table) {
	t.Helper()
	if err := json.Unmarshal(read(t, tableFile), &tab); err != nil {
		t.Fatal(err)
	}
	return tab
}

func (tab table) byPath() map[string]operation {
	all := map[string]operation{}
	for _, op := range slices.Concat(tab.Operations, tab.PublishedOperations) {
		all[op.Path] = op
	}
	return all
}

// TestDescriptionAgreesWithTheTable: every operation, member, type, limit and requirement of the table is in the description, and no other.
func TestDescriptionAgreesWithTheTable(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(read(t, descriptionFile), &doc); err != nil {
		t.Fatal(err)
	}
	at := func(node any, path ...string) any {
		for _, name := range path {
			m, _ := node.(map[string]any)
			node = m[name]
			if ref, ok := at0(node, "$ref").(string); ok {
				node = doc
				for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
					node = at0(node, part)
				}
			}
		}
		return node
	}
	tab := tableOf(t)
	paths, _ := at(doc, "paths").(map[string]any)
	if want := slices.Sorted(maps.Keys(tab.byPath())); !slices.Equal(slices.Sorted(maps.Keys(paths)), want) {
		t.Errorf("described are the paths %v, want %v", slices.Sorted(maps.Keys(paths)), want)
	}
	for path, op := range tab.byPath() {
		t.Run(op.Name, func(t *testing.T) {
			described := at(paths[path], strings.ToLower(op.Method))
			if at(described, "operationId") != op.Name {
				t.Fatalf("%s %s is %v", op.Method, path, at(described, "operationId"))
			}
			want, got := map[string]string{}, map[string]string{}
			required := map[string]bool{}
			var properties map[string]any
			if op.Method == http.MethodPost {
				schema := at(described, "requestBody", "content", "application/json", "schema")
				if op.Body == "Array" {
					schema = at(schema, "items")
				}
				properties, _ = at(schema, "properties").(map[string]any)
				names, _ := at(schema, "required").([]any)
				for _, name := range names {
					required[name.(string)] = true
				}
			} else {
				properties = map[string]any{}
			}
			parameters, _ := at(described, "parameters").([]any)
			for _, p := range parameters {
				name := at(p, "name").(string)
				if at(p, "in") == "path" && op.Method == http.MethodPost {
					continue
				}
				properties[name], required[name] = at(p, "schema"), at(p, "required") == true
			}
			for name := range properties {
				s := at(properties, name)
				got[name] = fmt.Sprintf("%s limit %s required %t", typeOf(s), limitOf(s), required[name])
			}
			for _, m := range op.Members {
				if m.In == "path" && op.Method == http.MethodPost {
					continue
				}
				want[m.Name] = fmt.Sprintf("%s limit %s required %t", m.kind(op.Method), m.limit(), m.Required == "R" || m.In == "path")
			}
			for name := range maps.Keys(want) {
				if got[name] != want[name] {
					t.Errorf("%s: described as %q, want %q", name, got[name], want[name])
				}
				delete(got, name)
			}
			for name := range got {
				t.Errorf("%s is described, and not in the table", name)
			}
		})
	}
	for object, schema := range map[string]string{
		"productInfo": "ProductInfo", "address": "BillingAddress", "card": "Card", "browser": "Browser", "subscriptionExtension": "SubscriptionExtension",
		"checkoutExtension": "CheckoutExtension",
	} {
		t.Run(object, func(t *testing.T) {
			properties, _ := at(doc, "components", "schemas", schema, "properties").(map[string]any)
			var want []string
			for _, m := range tab.Objects[object] {
				want = append(want, m.Name)
			}
			slices.Sort(want)
			if got := slices.Sorted(maps.Keys(properties)); len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s has the members %v, want %v", schema, got, want)
			}
		})
	}
}

func at0(node any, name string) any {
	m, _ := node.(map[string]any)
	return m[name]
}

// typeOf is the type of a schema, in the table's words. A number may also be sent as text, and an id of digits as a number.
func typeOf(schema any) string {
	of := at0(schema, "type")
	if all, ok := at0(schema, "anyOf").([]any); ok && len(all) == 2 {
		if of = at0(all[1], "type"); at0(all[0], "maxLength") != nil {
			of = at0(all[0], "type")
		}
	}
	return map[any]string{"string": "String", "boolean": "Boolean", "array": "Array", "object": "Object", "integer": "Number", "number": "Number"}[of]
}

// limitOf is the length that a schema allows: of texts, and of the digits of an id.
func limitOf(schema any) string {
	if all, ok := at0(schema, "anyOf").([]any); ok {
		schema = all[0]
	}
	pattern, _ := at0(schema, "pattern").(string)
	if digits, ok := strings.CutPrefix(pattern, "^[0-9]{1,"); ok {
		return strings.TrimSuffix(digits, "}$")
	}
	if pattern == "^[A-Z]{3}$" {
		return "3"
	}
	if n, ok := at0(schema, "maxLength").(float64); ok {
		return fmt.Sprint(int(n))
	}
	return "none"
}

// kind is the type of a member. The parameters of a query are text.
func (m member) kind(method string) string {
	if method == http.MethodGet {
		return "String"
	}
	return m.Type
}

func (m member) limit() string {
	if m.Limit == 0 {
		return "none"
	}
	return fmt.Sprint(m.Limit)
}
