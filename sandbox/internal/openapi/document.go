// Package openapi generates the OpenAPI description of the gateway from testdata/interface.json.
//
// A schema contains what the interface documents, and nothing that only the client or only the sandbox requires. Its
// x-source is the source: "interface: " and a heading of the interface description, "published" for what gateways of this
// kind publish beyond the interface, "own" for a choice of this repository because neither defines it. Keywords that are
// only published are under x-published, outside of the schema, which they would narrow.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Generate returns the description for an interface table.
func Generate(interfaceTable []byte) ([]byte, error) {
	var g generator
	if err := json.Unmarshal(interfaceTable, &g.table); err != nil {
		return nil, fmt.Errorf("openapi: the table: %w", err)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(g.document()); err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	return indented.Bytes(), nil
}

type generator struct{ table }

func (g *generator) document() object {
	return object{
		"openapi", "3.1.0",
		"info", object{
			"title", "Card payment gateway",
			"version", "1", "x-version", "own: the interface has no versions",
			"license", object{"name", "MIT", "identifier", "MIT"},
			"description", "x-source is the source of each part: interface, with its heading; published, for what gateways of " +
				"this kind publish beyond it; own, for a choice because neither defines it. x-published contains keywords that are published " +
				"and not in the interface. Objects are open: requests and responses may have additional members.",
		},
		"servers", list{object{"url", "/", "description", "the gateway that serves this description"}},
		"security", list{object{}, object{"basic", list{}}},
		"paths", g.paths(),
		"webhooks", webhooks(),
		"components", object{
			"securitySchemes", object{"basic", object{
				"type", "http", "scheme", "basic", "x-published", true,
				"description", "Merchant number and secret key. The interface: \"Authentication scheme: not shown\".",
			}},
			"schemas", g.schemas(),
		},
	}
}

func (g *generator) paths() (paths object) {
	for _, op := range append(g.Operations[:len(g.Operations):len(g.Operations)], g.PublishedOperations...) {
		o := object{"operationId", op.Name, "summary", op.Heading, "x-source", "interface: " + op.Heading}
		if op.isPublished() {
			o = object{"operationId", op.Name, "summary", op.Heading, "x-source", "published: " + op.Heading, "x-published", true}
		}
		if parameters := g.parameters(&op); parameters != nil {
			o.set("parameters", parameters)
		}
		if op.Method == "POST" {
			o.set("requestBody", object{"required", true, "content", jsonContent(g.body(&op))})
		}
		o.set("responses", g.responses(&op))
		paths.set(op.Path, object{strings.ToLower(op.Method), o})
	}
	return paths
}

func jsonContent(schema object) object {
	return object{"application/json", object{"schema", schema}}
}

// parameters returns the parameters in the path and in the query. The token of a token payment is only in the path: the
// interface documents neither its type nor its limit.
func (g *generator) parameters(op *operation) (parameters list) {
	if strings.Contains(op.Path, "{tokenization}") {
		parameters = append(parameters, object{
			"name", "tokenization", "in", "path", "required", true, "schema", object{"type", "string", "minLength", 1},
			"x-source", "interface: " + op.Heading,
		})
	}
	for _, m := range op.Members {
		if m.In == "" {
			continue
		}
		p := object{"name", m.Name, "in", m.In}
		if m.Required == "R" {
			p.set("required", true)
		}
		p.set("schema", parameterSchema(&m))
		parameters = append(parameters, append(p, "x-source", "interface: "+op.Heading))
	}
	return parameters
}

// parameterSchema describes a parameter as a string: a number of 20 digits is wider than the integers of most programs.
func parameterSchema(m *member) object {
	switch {
	case m.Type == "Number":
		return object{
			"type", "string", "maxLength", m.Limit, "pattern", "^0*[1-9][0-9]*$",
			"description", fmt.Sprintf("Number(%d), counted from 1", m.Limit),
		}
	case m.Name == "startDate", m.Name == "endingDate":
		return object{"type", "string", "maxLength", m.Limit, "pattern", "^" + datePattern + "( " + timePattern + ")?$"}
	case m.Required == "R":
		return object{"type", "string", "minLength", 1, "maxLength", m.Limit}
	}
	return object{"type", "string", "maxLength", m.Limit}
}

// Calendar dates, except that February always has 29 days, and times of day.
const (
	datePattern = "[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))"
	timePattern = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
)
