package contract

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

var seed = flag.Uint64("seed", 20260131, "of all random values")

// requests compares the requests of one operation.
type requests struct {
	*description
	op        *operation
	gateway   *gateway
	published *gateway // the same with the limits that are published
	meant     departures

	withLibrary bool // every body is also checked as a whole request by the OpenAPI library
	stopAtFirst bool // one disagreement is enough
	planted     bool // the search is for a published limit

	pool []any // of bases

	cases, allowed, forbidden, byClient, notSaid int
	places                                       map[string]*[2]int // by path: values that were allowed, and forbidden
	disagreements                                []string
}

func newRequests(t testing.TB, d *description, op *operation) *requests {
	return &requests{
		description: d, op: op, meant: requestDepartures(), withLibrary: true, places: make(map[string]*[2]int),
		gateway:   newGateway(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}),
		published: newGateway(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted, PublishedLimits: true}),
	}
}

// input is the schema of a request: of its body, or of its parameters as an object.
func (op *operation) input() schema {
	if op.body != nil {
		return op.body
	}
	all, required := schema{}, []any{}
	for _, p := range op.parameters {
		all[p["name"].(string)] = p["schema"]
		if p["required"] == true {
			required = append(required, p["name"])
		}
	}
	return schema{"type": "object", "properties": all, "required": required}
}

func (r *requests) disagree(what string, p path, value any, format string, args ...any) {
	text := fmt.Sprintf("%s: %s at %q with %.120s: %s", r.op.name, what, p, encode(valueText(value)), fmt.Sprintf(format, args...))
	r.disagreements = append(r.disagreements, text)
}

func valueText(v any) any {
	if _, ok := v.(absent); ok {
		return "(missing)"
	}
	return v
}

// possible reports whether a schema can decide whether a document is allowed.
func possible(document any) bool {
	members, ok := document.(map[string]any)
	if !ok {
		return true
	}
	for _, name := range []string{"startDate", "endingDate"} {
		text, isText := members[name].(string)
		if _, err := time.Parse(time.DateOnly, text[:min(len(text), 10)]); isText && len(text) >= 10 && err != nil &&
			strings.Contains(err.Error(), "day out of range") {
			return false // the end of February
		}
	}
	return true
}

// compare compares one request on the three sides. The value is the special one in it, at p.
func (r *requests) compare(document any, p path, value any) {
	if r.stopAtFirst && r.disagreements != nil {
		return
	}
	if !possible(document) {
		r.notSaid++
		return
	}
	r.cases++
	c := call{r.op.name, document}
	m := c.message(r.op)
	var described error
	if r.op.body != nil {
		described = r.op.check("body", asDescribed, document)
	}
	if r.withLibrary || r.op.body == nil {
		byLibrary := r.checkRequest(m)
		if r.op.body != nil && (byLibrary == nil) != (described == nil) {
			r.disagree("the two validators", p, value, "%v and %v", byLibrary, described)
		}
		described = byLibrary
	}
	n := r.places[p.String()]
	if n == nil {
		n = new([2]int)
		r.places[p.String()] = n
	}
	if described == nil {
		n[0]++
		r.allowed++
	} else {
		n[1]++
		r.forbidden++
	}
	r.compareSandbox(c, m, p, value, described)
	r.compareClient(c, p, value, described)
}

func (r *requests) compareSandbox(c call, m *message, p path, value any, described error) {
	taken, err := r.gateway.takes(m)
	switch {
	case err != nil:
		r.disagree("sandbox", p, value, "%v", err)
	case taken && described != nil && value == nil && len(p) > 0 && r.meant.take("null"):
	case taken && described != nil && value == "" && (p.name() == "currPage" || p.name() == "pageSize") && r.meant.take("empty parameter"):
	case taken != (described == nil):
		r.disagree("sandbox", p, value, "took it: %v; description: %v; response %s", taken, short(described), m.response)
	}
	if r.op.body == nil || !slices.Contains(paymentOperations, r.op.name) || value == nil && len(p) > 0 {
		return
	}
	if r.stopAtFirst && !r.planted {
		return
	}
	narrowed := r.op.check("body", inPublished, c.document)
	if taken, err = r.published.takes(m); err != nil || taken != (narrowed == nil) {
		r.disagree("sandbox with published limits", p, value, "took it: %v (%v); description: %v; response %s", taken, err, short(narrowed), m.response)
	}
}

var paymentOperations = []string{"CreateTokenOrder", "TokenPayment", "CreateSubscription", "CreateCheckout", "CreateCheckoutSubscription"}

// compareClient lets the client make the request, if its types can represent it.
func (r *requests) compareClient(c call, p path, value any, described error) {
	x, err := c.do(func(*message) (int, []byte) { return 200, []byte(`{"code":500}`) })
	if errors.Is(err, errNotExpressible) {
		return
	}
	r.byClient++
	if x.sent != nil {
		if err := r.sentIsDescribed(x.sent); err != nil {
			r.disagree("client", p, value, "sent what is not described: %v", short(err))
		}
		if taken, err := r.gateway.takes(x.sent); !taken || err != nil {
			r.disagree("client", p, value, "sent what the sandbox does not take: %s %v", x.sent.response, err)
		}
		return
	}
	if described == nil && !r.meant.meant(x.err, value) {
		r.disagree("client", p, value, "refuses what is described: %v", x.err)
	}
	if !errors.Is(x.err, cardgateway.ErrInvalidRequest) {
		r.disagree("client", p, value, "sent nothing, and says %v", x.err)
	}
}

// sentIsDescribed returns what in a request of the client is not described: every member has to be.
func (r *requests) sentIsDescribed(m *message) error {
	if err := r.op.undeclared(m.url.Query()); err != nil {
		return err
	}
	if r.op.body != nil {
		document, err := decode(m.body)
		if err != nil {
			return err
		}
		if err := r.op.check("body", inClosed, document); err != nil {
			return err
		}
	}
	if r.withLibrary || r.op.body == nil {
		return r.checkRequest(m)
	}
	return nil
}

func short(err error) string {
	if err == nil {
		return "allows it"
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	return text[:min(len(text), 300)]
}

// whole compares documents with random values: all are allowed.
func (r *requests) whole(v values, n int) {
	for i := range n {
		r.withLibrary = i%4 == 0 && !r.stopAtFirst
		v.client = i%2 == 0
		document := v.of(r.op.input(), "")
		r.compare(document, path{"(whole)"}, document)
	}
}

// bases returns a full and a minimal document, also within published limits, so that only a changed member decides the
// result.
func (r *requests) bases(v values) []any {
	if len(r.pool) == 0 {
		input := withPublished(r.op.input())
		for i := range 8 {
			v.full, v.client = i%2 == 0, i%2 == 0
			document := v.of(input, "")
			for r.op.body != nil && r.op.check("body", inPublished, document) != nil {
				document = v.of(input, "")
			}
			if v.client {
				document = known(document, r.op.input())
			}
			r.pool = append(r.pool, document)
		}
	}
	i := 2 * v.IntN(len(r.pool)/2)
	return r.pool[i : i+2]
}

// known returns a document without members that are only published: the client has no fields for them.
func known(document any, s schema) any {
	s = merged(s)
	switch document := document.(type) {
	case map[string]any:
		kept := make(map[string]any)
		for name, value := range document {
			if member, ok := properties(s)[name].(schema); ok {
				kept[name] = known(value, member)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(document))
		for i, element := range document {
			kept[i] = known(element, s["items"].(schema))
		}
		return kept
	}
	return document
}

// around changes one member of a full and of a minimal document.
func (r *requests) around(v values, at place) {
	bases := r.bases(v)
	for i, value := range v.near(at.schema, at.path.name()) {
		if _, isText := value.(string); r.op.body == nil && !isText && value != any(absent{}) {
			continue // everything in a query is a text
		}
		r.withLibrary = i%80 == 0 && !r.stopAtFirst
		changed, ok := with(bases[i%4/3], at.path, value)
		if !ok {
			changed, ok = with(bases[0], at.path, value)
		}
		if !ok || len(at.path) == 0 && value == any(absent{}) {
			continue
		}
		if other := map[string]string{"startDate": "endingDate", "endingDate": "startDate"}[at.path.name()]; other != "" && isDate(value) {
			changed.(map[string]any)[other] = value // neither before the other, nor a month later
		}
		r.compare(changed, at.path, value)
	}
}

func isDate(value any) bool {
	text, _ := value.(string)
	_, short := time.Parse(time.DateOnly, text)
	_, long := time.Parse(time.DateTime, text)
	return short == nil || long == nil
}

// allPlaces returns the members of a request, and the request itself.
func (op *operation) allPlaces() []place {
	list := places(op.input(), nil)
	if op.body != nil {
		list = append(list, place{nil, op.body, true})
	}
	return list
}

func TestRequests(t *testing.T) {
	t.Parallel()
	d, err := read(served(t))
	if err != nil {
		t.Fatal(err)
	}
	meant := requestDepartures()
	members, cases, disagreements := 0, 0, 0
	for _, op := range d.operations {
		r := newRequests(t, d, op)
		r.meant = meant
		v := newValues(*seed)
		r.whole(v, 40)
		list := op.allPlaces()
		for _, at := range list {
			r.around(v, at)
			n := r.places[at.path.String()]
			if n == nil || n[0] == 0 || n[1] == 0 {
				t.Errorf("%s, %s: got %v values that are allowed and forbidden, want both", op.name, at.path, n)
			}
		}
		if 4*r.byClient < r.cases {
			t.Errorf("%s: got %d of %d requests made by the client, want a fourth at least", op.name, r.byClient, r.cases)
		}
		t.Logf("%-27s %2d members, %5d requests: %5d allowed, %5d forbidden; %5d made by the client too; %d of what no schema can say; disagreements %d",
			op.name, len(list), r.cases, r.allowed, r.forbidden, r.byClient, r.notSaid, len(r.disagreements))
		members, cases, disagreements = members+len(list), cases+r.cases, disagreements+len(r.disagreements)
		for _, text := range r.disagreements[:min(len(r.disagreements), 5)] {
			t.Error(text)
		}
	}
	t.Logf("%d operations, %d members, %d requests; disagreements %d", len(d.operations), members, cases, disagreements)
	meant.report(t)
}
