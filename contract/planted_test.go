package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// plant is one change of the description of an operation.
type plant struct {
	kind  string
	at    path // of the member; nil for the whole body
	after path // where the member is afterwards
	apply func(*operation) bool
}

// copied returns an operation whose schemas can be changed.
func (op *operation) copied() *operation {
	c := *op
	c.compiled = maps.Clone(op.compiled)
	c.parameters = nil
	for _, p := range op.parameters {
		c.parameters = append(c.parameters, clone(p).(schema))
	}
	if op.body != nil {
		c.body = clone(op.body).(schema)
	}
	c.result = clone(op.result).(schema)
	clear(c.compiled)
	return &c
}

// visit calls f with every object schema that has the member at p, and reports whether there was one.
func visit(s schema, p path, f func(holder schema, name string)) (found bool) {
	for _, keyword := range []string{"allOf", "anyOf"} {
		for _, sub := range subschemas(s, keyword) {
			found = visit(sub, p, f) || found
		}
	}
	if len(p) == 0 {
		return found
	}
	if name, ok := p[0].(string); ok {
		member, ok := properties(s)[name].(schema)
		switch {
		case len(p) == 1 && (ok || requires(s, name)):
			f(s, name)
			return true
		case len(p) == 1 || !ok:
			return found
		}
		return visit(member, p[1:], f) || found
	}
	items, ok := s["items"].(schema)
	return ok && visit(items, p[1:], f) || found
}

// part is the schema of an operation's request or result.
type part func(*operation) schema

func request(op *operation) schema { return op.body }

func result(op *operation) schema { return op.result }

// change returns a plant that changes a member everywhere in the part.
func change(of part, kind string, at path, f func(holder schema, name string)) plant {
	return plant{kind: kind, at: at, after: at, apply: func(op *operation) bool { return visit(of(op), at, f) }}
}

// plants returns the changes of one member. If a change does not apply to this member, apply reports false or nothing
// differs.
func plants(of part, at place) (list []plant) {
	p := at.path
	add := func(kind string, f func(holder schema, name string)) { list = append(list, change(of, kind, p, f)) }
	rename := change(of, "renamed", p, func(holder schema, name string) {
		if member, ok := properties(holder)[name]; ok {
			properties(holder)[name+"X"] = member
			delete(properties(holder), name)
		}
		for i, required := range asList(holder["required"]) {
			if required == name {
				asList(holder["required"])[i] = name + "X"
			}
		}
	})
	rename.after = append(slices.Clone(p[:len(p)-1]), p.name()+"X")
	list = append(list, rename)
	add("removed", func(holder schema, name string) {
		delete(properties(holder), name)
		dropRequired(holder, name)
	})
	if at.required {
		add("no longer required", dropRequired)
	}
	add("another type", func(holder schema, name string) {
		if member, ok := properties(holder)[name].(schema); ok {
			properties(holder)[name] = otherType(merged(member))
		}
	})
	return list
}

// requestPlants are the changes of a member that only requests are searched for.
func requestPlants(of part, at place) (list []plant) {
	if !at.required {
		list = append(list, change(of, "required", at.path, func(holder schema, name string) {
			holder["required"] = append(asList(holder["required"]), name)
		}))
	}
	for _, by := range []int64{-1, 1} {
		kind := fmt.Sprintf("limit %+d", by)
		if limited, ok := otherLimit(at.schema, by); ok {
			list = append(list, change(of, kind, at.path, func(holder schema, name string) { properties(holder)[name] = limited }))
		}
	}
	if string(encode(withoutForm(at.schema))) != string(encode(at.schema)) {
		list = append(list, change(of, "no form", at.path, func(holder schema, name string) {
			properties(holder)[name] = withoutForm(properties(holder)[name])
		}))
	}
	return list
}

func dropRequired(holder schema, name string) {
	holder["required"] = slices.DeleteFunc(slices.Clone(asList(holder["required"])), func(required any) bool { return required == name })
}

// otherType is a schema of another JSON type.
func otherType(s schema) schema {
	switch s["type"] {
	case "boolean":
		return schema{"type": "array", "items": schema{}}
	case "string":
		return schema{"type": "object"}
	}
	return schema{"type": "boolean"}
}

var bound = regexp.MustCompile(`\{([0-9]+)(,[0-9]+)?\}`)

// otherLimit is the schema with every limit moved: of characters, of digits in numbers and patterns, and of elements.
func otherLimit(s schema, by int64) (schema, bool) {
	before := string(encode(s))
	moved := clone(s).(schema)
	moveLimits(moved, by)
	return moved, string(encode(moved)) != before
}

func moveLimits(node any, by int64) {
	switch node := node.(type) {
	case map[string]any:
		for _, keyword := range []string{"maxLength", "maxItems", "minItems"} {
			if n, ok := node[keyword].(json.Number); ok {
				node[keyword] = plus(n, by)
			}
		}
		if n, ok := node["exclusiveMaximum"].(json.Number); ok { // ten times more, or less
			factor := big.NewRat(10, 1)
			if by < 0 {
				factor.Inv(factor)
			}
			node["exclusiveMaximum"] = json.Number(new(big.Rat).Mul(rat(n), factor).Num().String())
		}
		pattern, ok := node["pattern"].(string)
		if _, limited := node["maxLength"]; ok && !limited {
			node["pattern"] = bound.ReplaceAllStringFunc(pattern, func(text string) string {
				low, high, isRange := strings.Cut(strings.Trim(text, "{}"), ",")
				if isRange {
					n, _ := strconv.ParseInt(high, 10, 64)
					return fmt.Sprintf("{%s,%d}", low, n+by)
				}
				n, _ := strconv.ParseInt(low, 10, 64)
				return fmt.Sprintf("{%d}", n+by)
			})
		}
		for name, value := range node {
			if name != "properties" && name != "items" {
				moveLimits(value, by)
			}
		}
	case []any:
		for _, value := range node {
			moveLimits(value, by)
		}
	}
}

func withoutForm(v any) any {
	v = clone(v)
	dropPatterns(v)
	return v
}

func dropPatterns(node any) {
	switch node := node.(type) {
	case map[string]any:
		delete(node, "pattern")
		delete(node, "not")
		for name, value := range node {
			if name != "properties" && name != "items" {
				dropPatterns(value)
			}
		}
	case []any:
		for _, value := range node {
			dropPatterns(value)
		}
	}
}

// hangsOn reports whether the client needs a required member of a response. It does not need the others: see the departure
// "missing".
func hangsOn(op *operation, at place) bool {
	switch name := at.path.String(); {
	case name == "code":
		return true
	case slices.Contains(paymentOperations, op.name):
		return name == "transactionId" || name == "redirectUrl"
	case op.name == "CreateRefund":
		return name == "refundTransactionId"
	case op.name == "GetTransaction":
		return name == "uniqueId"
	}
	return false
}

// equal reports whether a change affects neither side: among others, the client reads is3d with both of its types, and
// ignores the members of an address if a secret was sent. If the sandbox sends them, such changes are detected.
func equal(op *operation, side, kind string, at path) bool {
	sendsSecret := op.name == "TokenPayment" || op.name == "CreateSubscription"
	if side == "request" && at.name() == "subscriptionCycle" && strings.HasPrefix(kind, "limit") {
		return true // the published list is narrower than the published limit
	}
	return side == "response" && kind == "another type" && (at.name() == "is3d" || sendsSecret && at[0] == "billingAddress")
}

// searcher searches for the disagreement caused by a plant.
type searcher struct {
	*testing.T
	d         *description
	requests  *requests  // of the operation as it is described, for its gateways
	recorded  []*message // by the sandbox, one of each kind
	sent      []*message // by the client
	documents []any      // of the requests that the client has sent
}

func newSearcher(t *testing.T, d *description, op *operation, recorded []*message) *searcher {
	s := &searcher{T: t, d: d, requests: newRequests(t, d, op)}
	s.requests.bases(newValues(*seed)) // of the operation as it is described: a changed one may allow no document
	kinds := make(map[string]bool)
	for _, m := range recorded {
		if kind := m.kind(); m.operation == op.name && !kinds[kind] {
			kinds[kind] = true
			s.recorded = append(s.recorded, m)
		}
	}
	v := newValues(*seed)
	v.client = true
	for i := range 6 {
		v.full = i == 0
		c := call{op.name, v.of(op.input(), "")}
		if x, err := c.do(func(*message) (int, []byte) { return 200, []byte(`{"code":500}`) }); err == nil && x.sent != nil {
			s.sent = append(s.sent, x.sent)
			s.documents = append(s.documents, c.document)
		}
	}
	return s
}

// inRequests returns the first disagreement among the requests caused by a changed description, or "".
func (s *searcher) inRequests(d *description, op *operation, at []path) string {
	r := *s.requests
	r.description, r.op, r.meant, r.stopAtFirst, r.disagreements = d, op, requestDepartures(), true, nil
	r.withLibrary = false // it has loaded the original description
	r.places = make(map[string]*[2]int)
	r.planted = isPublished(s.requests.op, at[0])
	for _, m := range s.sent {
		if err := r.sentIsDescribed(m); err != nil {
			return "client: " + short(err)
		}
	}
	for _, document := range s.documents {
		r.compare(document, path{"(whole)"}, document)
	}
	for _, member := range op.allPlaces() {
		if slices.ContainsFunc(at, func(p path) bool { return p.String() == member.path.String() }) && r.disagreements == nil {
			r.around(newValues(*seed), member)
		}
	}
	for _, member := range s.requests.op.allPlaces() { // as it was
		if len(at) > 0 && at[0].String() == member.path.String() && r.disagreements == nil {
			r.around(newValues(*seed), member)
		}
	}
	return strings.Join(r.disagreements, "")
}

// isPublished reports whether published limits narrow a member.
func isPublished(op *operation, at path) (is bool) {
	visit(op.body, at, func(holder schema, name string) {
		member, _ := properties(holder)[name].(schema)
		is = is || member["x-published"] != nil
	})
	return is
}

// inResponses does the same for the responses.
func (s *searcher) inResponses(op *operation, at []path) string {
	for _, m := range s.recorded {
		if document, err := decode(m.response); m.status == 200 && err == nil {
			if err := op.check("result", inClosed, document); err != nil {
				return "sandbox: " + short(err)
			}
		}
	}
	r := newResponses(s.requests.op, responseDepartures())
	r.op, r.stopAtFirst = op, true
	v := newValues(*seed)
	for _, forms := range [][]form{op.forms(), s.requests.op.forms()} {
		for _, f := range forms {
			r.whole(v, f, 1)
			for _, member := range f.places {
				if slices.ContainsFunc(at, func(p path) bool { return p.String() == member.path.String() }) && r.disagreements == nil {
					r.around(v, f, member)
				}
			}
		}
	}
	return strings.Join(r.disagreements, "")
}

// documentPlant is a change of an operation other than of a member of a body.
type documentPlant struct {
	side, kind string
	at, after  path
	apply      func(operation schema)
}

// documentPlants returns changes of the parameters, the content types and the status.
func documentPlants(op *operation) (list []documentPlant) {
	contentType := func(body any) {
		media := body.(schema)["content"].(schema)
		media["text/plain"] = media["application/json"]
		delete(media, "application/json")
	}
	list = append(list,
		documentPlant{side: "response", kind: "content type", apply: func(o schema) { contentType(o["responses"].(schema)["200"]) }},
		documentPlant{side: "response", kind: "status", apply: func(o schema) {
			o["responses"].(schema)["201"] = o["responses"].(schema)["200"]
			delete(o["responses"].(schema), "200")
		}})
	if op.body != nil {
		return append(list, documentPlant{side: "request", kind: "content type", apply: func(o schema) { contentType(o["requestBody"]) }})
	}
	for i, p := range op.parameters {
		at := path{p["name"].(string)}
		add := func(kind string, after path, f func(p schema)) {
			list = append(list, documentPlant{"parameter", kind, at, after, func(o schema) { f(asList(o["parameters"])[i].(schema)) }})
		}
		add("renamed", path{at.name() + "X"}, func(p schema) { p["name"] = at.name() + "X" })
		add("another type", at, func(p schema) { p["schema"] = schema{"type": "boolean"} })
		if p["in"] == "query" {
			add("required or not", at, func(p schema) { p["required"] = p["required"] != true })
		}
		s := p["schema"].(schema)
		for _, by := range []int64{-1, 1} {
			limited, ok := otherLimit(s, by)
			if isDate := strings.HasSuffix(at.name(), "Date"); ok && !isDate { // a date is shorter than its limit
				add(fmt.Sprintf("limit %+d", by), at, func(p schema) { p["schema"] = limited })
			}
		}
		if s["pattern"] != nil {
			add("no form", at, func(p schema) { p["schema"] = withoutForm(s) })
		}
	}
	return list
}

// only returns a copy of a description with one operation.
func only(document map[string]any, op *operation) map[string]any {
	c := clone(document).(map[string]any)
	c["paths"] = schema{op.path: c["paths"].(schema)[op.path]}
	return c
}

// inDocument returns the first disagreement caused by a changed document, or "".
func (s *searcher) inDocument(document map[string]any, at []path) string {
	d, err := read(document)
	if err != nil {
		return "library: " + short(err)
	}
	for _, m := range s.sent {
		if err := d.checkRequest(m); err != nil {
			return "client: " + short(err)
		}
	}
	for _, m := range s.recorded {
		if err := d.checkResponse(m); err != nil {
			return "sandbox: " + short(err)
		}
	}
	return s.inRequests(d, d.operations[0], at)
}

// long reports whether all changes are tested, instead of a part of those that several operations share.
func long() bool { return os.Getenv("CARDGATEWAY_LONG") == "1" }

// TestPlantedDisagreements changes the description at one place at a time, and checks that the comparison detects each
// change.
func TestPlantedDisagreements(t *testing.T) {
	t.Parallel()
	document := served(t)
	d, err := read(document)
	if err != nil {
		t.Fatal(err)
	}
	recorded := record(t, d)
	all, found, notPlanted := 0, 0, 0
	kinds, kindsFound := make(map[string]int), make(map[string]int)
	unfound := make(map[string]bool)
	note := func(op *operation, side, kind string, at path, where string) {
		all++
		kinds[side+" "+kind]++
		if where != "" {
			found++
			kindsFound[side+" "+kind]++
			return
		}
		if equal(op, side, kind, at) {
			all--
			notPlanted++
			return
		}
		unfound[fmt.Sprintf("%s %s %s: %s", op.name, side, at, kind)] = true
	}
	for i, op := range d.operations {
		s := newSearcher(t, d, op, recorded)
		// Members of members belong to several operations: each is planted in one of five, in the long form in all.
		skips := func(at path) bool {
			return len(at) > 1 && (i+len(at.String()))%5 != 0 && !long()
		}
		for _, p := range documentPlants(op) {
			changed := only(document, op)
			p.apply(changed["paths"].(schema)[op.path].(schema)[strings.ToLower(op.method)].(schema))
			note(op, p.side, p.kind, p.at, s.inDocument(changed, []path{p.at, p.after}))
		}
		if op.body != nil {
			for _, at := range places(op.body, nil) {
				if skips(at.path) {
					continue
				}
				for _, p := range append(plants(request, at), requestPlants(request, at)...) {
					changed := op.copied()
					if p.apply(changed) {
						note(op, "request", p.kind, p.at, s.inRequests(d, changed, []path{p.at, p.after}))
					}
				}
			}
		}
		seen := make(map[string]bool)
		for _, f := range op.forms() {
			for _, at := range f.places {
				if seen[at.path.String()] || skips(at.path) || !long() && (i+len(seen))%2 != 0 {
					seen[at.path.String()] = true
					continue
				}
				seen[at.path.String()] = true
				for _, p := range plants(result, at) {
					if p.kind == "no longer required" && !hangsOn(op, at) {
						notPlanted++
						continue
					}
					changed := op.copied()
					if p.apply(changed) {
						note(op, "response", p.kind, p.at, s.inResponses(changed, []path{p.at, p.after}))
					}
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%-30s planted %4d, found %4d", kind, kinds[kind], kindsFound[kind])
	}
	t.Logf("planted %d, found %d; %d more changes make no difference to anybody", all, found, notPlanted)
	for _, text := range slices.Sorted(maps.Keys(unfound)) {
		t.Errorf("not found: %s", text)
	}
}
