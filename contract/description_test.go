package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// description is an OpenAPI document, loaded by the library, and its schemas.
type description struct {
	router     routers.Router
	operations []*operation
}

// operation is one operation of a description. Its schemas have no references.
type operation struct {
	name, method, path string
	parameters         []schema
	body               schema // nil if there is none
	result             schema // of the response with HTTP status 200

	compiled map[string]*jsonschema.Schema
}

// served returns the description that the sandbox serves.
func served(t testing.TB) map[string]any {
	t.Helper()
	g := sandbox.New(sandbox.Options{})
	defer g.Close()
	r, err := http.NewRequest("GET", "https://gateway.test/_sandbox/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := g.RoundTripper().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got HTTP %d, error %v", response.StatusCode, err)
	}
	document, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return document.(map[string]any)
}

// decode decodes JSON and keeps the digits of numbers.
func decode(data []byte) (any, error) { return jsonschema.UnmarshalJSON(bytes.NewReader(data)) }

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // cannot happen: the value was decoded, or created here
	}
	return bytes.TrimSpace(b.Bytes())
}

// read loads a description from a document. The library validates the document first, including misspelled keywords.
func read(document map[string]any) (*description, error) {
	if _, err := load(document); err != nil {
		return nil, err
	}
	components := document["components"].(schema)["schemas"].(schema)
	paths := inline(document["paths"], components).(schema)
	// For some schemas with references the library falls back to a validator that knows only numbers of 53 bits.
	whole := maps.Clone(document)
	whole["paths"] = paths
	doc, err := load(whole)
	if err != nil {
		return nil, err
	}
	d := &description{}
	if d.router, err = gorillamux.NewRouter(doc); err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for method, value := range paths[path].(schema) {
			value := value.(schema)
			op := &operation{
				name: value["operationId"].(string), method: strings.ToUpper(method), path: path,
				result: content(value["responses"].(schema)["200"]), compiled: make(map[string]*jsonschema.Schema),
			}
			for _, p := range asList(value["parameters"]) {
				op.parameters = append(op.parameters, p.(schema))
			}
			if value["requestBody"] != nil {
				op.body = content(value["requestBody"])
			}
			d.operations = append(d.operations, op)
		}
	}
	return d, nil
}

func load(document map[string]any) (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(encode(document))
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background())
}

// content is the schema of a body.
func content(body any) schema {
	described, _ := body.(schema)
	media, _ := described["content"].(schema)
	for _, m := range media {
		return m.(schema)["schema"].(schema)
	}
	return nil
}

func (d *description) operation(name string) *operation {
	for _, op := range d.operations {
		if op.name == name {
			return op
		}
	}
	return nil
}

// Variants of a schema: unchanged, closed, and narrowed by published limits.
const (
	asDescribed = "as described"
	inClosed    = "closed"
	inPublished = "published"
)

// check returns why a value does not match a schema of the operation: that of the body, or of the result.
func (op *operation) check(part, view string, value any) error {
	c := op.compiled[part+view]
	if c == nil {
		s := op.body
		if part == "result" {
			s = op.result
		}
		switch view {
		case inClosed:
			s = closed(s)
		case inPublished:
			s = withPublished(s)
		}
		c = compile(s)
		op.compiled[part+view] = c
	}
	return c.Validate(value)
}

// compiled returns a compiled schema that is used often.
func compiled(s schema) *jsonschema.Schema {
	text := string(encode(s))
	c, ok := conditions.Load(text)
	if !ok {
		c, _ = conditions.LoadOrStore(text, compile(s))
	}
	return c.(*jsonschema.Schema)
}

var conditions sync.Map // compiled schemas by their text

func compile(s schema) *jsonschema.Schema {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	const name = "https://contract.test/schema.json"
	if err := compiler.AddResource(name, s); err != nil {
		panic(err) // cannot happen: the library accepted the document
	}
	return compiler.MustCompile(name)
}

// message is a request, and the response to it if there was one.
type message struct {
	operation string
	method    string
	url       *url.URL
	header    http.Header
	body      []byte

	status         int
	responseHeader http.Header
	response       []byte
}

func (m *message) request() *http.Request {
	r, err := http.NewRequest(m.method, m.url.String(), bytes.NewReader(m.body))
	if err != nil {
		panic(err) // cannot happen: it was a URL before
	}
	r.Header = m.header.Clone()
	return r
}

// checkRequest returns why the description does not allow a request, or nil.
func (d *description) checkRequest(m *message) error {
	input, err := d.input(m)
	if err != nil {
		return err
	}
	return openapi3filter.ValidateRequest(context.Background(), input)
}

func (d *description) input(m *message) (*openapi3filter.RequestValidationInput, error) {
	r := m.request()
	route, pathParams, err := d.router.FindRoute(r)
	if err != nil {
		return nil, err
	}
	if got := route.Operation.OperationID; got != m.operation {
		return nil, fmt.Errorf("the request is one of %s", got)
	}
	for name, value := range pathParams { // not done by the library
		if pathParams[name], err = url.PathUnescape(value); err != nil {
			return nil, err
		}
	}
	return &openapi3filter.RequestValidationInput{
		Request: r, PathParams: pathParams, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true,
			RejectWhenRequestBodyNotSpecified: true, SkipSettingDefaults: true,
		},
	}, nil
}

// checkResponse returns why the description does not allow a response, or nil.
func (d *description) checkResponse(m *message) error {
	input, err := d.input(m)
	if err != nil {
		return err
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: m.status, Header: m.responseHeader,
		Body: io.NopCloser(bytes.NewReader(m.response)), Options: input.Options,
	})
}

// undeclared returns a parameter of the query that the operation does not have: the library does not check that.
func (op *operation) undeclared(query url.Values) error {
	for name := range query {
		if !slices.ContainsFunc(op.parameters, func(p schema) bool { return p["in"] == "query" && p["name"] == name }) {
			return errors.New("the query parameter " + name + " is not described")
		}
	}
	return nil
}
