package cardgateway_test

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// The interface's own table decides: each payment operation sends exactly the members that the table gives it, asks
// for those that are required, and keeps to every limit. Nothing of it is repeated here by hand.

// table is testdata/interface.json; see testdata/README.md.
type table struct {
	Operations, PublishedOperations []tableOperation
	Objects                         map[string][]tableMember
}

type tableOperation struct {
	Name, Path string
	Body       string // Array, or empty for an object
	Payment    bool
	Members    []tableMember
}

type tableMember struct {
	Name, Type, Object     string
	Required, RequiredWhen string
	RequiredIn             []string
	Limit                  int
	PublicFacts            struct{ Required any }
}

// requiredAt reports whether the member is required inside the member of that name. For a card and a subscription the
// interface does not say it; what is published does.
func (m tableMember) requiredAt(parent string) bool {
	published := m.PublicFacts.Required == "R" && (parent == "card" || parent == "extension")
	return m.Required == "R" && (m.RequiredIn == nil || slices.Contains(m.RequiredIn, parent)) || m.Required == "" && published
}

func readTable(t testing.TB) (tab table) {
	t.Helper()
	data, err := os.ReadFile("testdata/interface.json")
	if err == nil {
		err = json.Unmarshal(data, &tab)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// bodies are the operations with a body: the payments, and what is published beyond the interface.
func (tab table) bodies() []tableOperation { return append(tab.payments(), tab.PublishedOperations...) }

// payments are the operations of the interface with a body.
func (tab table) payments() (ops []tableOperation) {
	for _, op := range tab.Operations {
		if op.Payment {
			ops = append(ops, op)
		}
	}
	return ops
}

// document is a request with every member that the table gives the operation.
func (tab table) document(op tableOperation) map[string]any {
	return tab.object(op.Members)
}

func (tab table) object(members []tableMember) map[string]any {
	doc := map[string]any{}
	for _, m := range members {
		switch m.Type {
		case "Object":
			doc[m.Name] = tab.object(tab.Objects[m.Object])
		case "Array":
			doc[m.Name] = []any{tab.object(tab.Objects[m.Object]), tab.object(tab.Objects[m.Object])}
		case "Boolean":
			doc[m.Name] = true
		default:
			doc[m.Name] = validValue(m)
		}
	}
	return doc
}

// validValue is a value for a member of the interface.
func validValue(m tableMember) any {
	switch m.Name {
	case "appId", "quantity", "subscriptionPeriod":
		return json.Number("12")
	case "amount", "price":
		return "12.50"
	case "uniqueId":
		return "2018062815300001"
	case "currency":
		return "USD"
	case "country":
		return "US"
	case "transactionIp":
		return "203.0.113.7"
	case "subscriptionCycle":
		return "WEEK"
	case "callbackUrl", "notificationUrl", "productLink", "referer":
		return "https://shop.example/" + m.Name
	case "cardNumber":
		return clienttest.CardNumber
	case "cvv":
		return clienttest.CVV
	case "expiredYear", "expiredMonth":
		return "11"
	}
	return "some " + m.Name
}

// send fills the operation's request with the document and calls it. It returns what was sent, nil if nothing. Of an
// operation that takes an array the document is the one element.
func send(t *testing.T, op tableOperation, doc map[string]any) (sent []byte, err error) {
	t.Helper()
	body, jsonErr := json.Marshal(doc)
	if op.Body == "Array" {
		body, jsonErr = json.Marshal([]any{doc})
	}
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, AppID: "12", HTTPClient: clienttest.Keeping(t, (*json.RawMessage)(&sent), "{}")})
	x := exchange{Operation: op.Name, Token: clienttest.Token}
	x.Request.Body = body
	_, err = callDocumented(t, c, x)
	if op.Body == "Array" && sent != nil {
		var elements []json.RawMessage
		if jsonErr := json.Unmarshal(sent, &elements); jsonErr != nil || len(elements) != 1 {
			t.Fatalf("%s: got %s, want an array of one element", op.Name, sent)
		}
		sent = elements[0]
	}
	return sent, err
}

// problems are those of an error. Of an array they are named as if its first element were alone.
func problems(err error) (list []string) {
	for _, problem := range clienttest.Problems(err) {
		list = append(list, strings.TrimPrefix(problem, "shipments[0]."))
	}
	return list
}

func TestEveryMemberIsSent(t *testing.T) {
	tab := readTable(t)
	for _, op := range tab.bodies() {
		doc := tab.document(op)
		sent, err := send(t, op, doc)
		if sent == nil {
			t.Errorf("%s: a full request is refused: %v", op.Name, err)
			continue
		}
		want, _ := json.Marshal(doc)
		if diff := cmp.Diff(clienttest.Normal(t, want), clienttest.Normal(t, sent)); diff != "" {
			t.Errorf("%s (-table +sent):\n%s", op.Name, diff)
		}
	}
}

// TestStructsHaveNoOtherMembers: a member with a dash in an operation's column does not exist in its struct.
func TestStructsHaveNoOtherMembers(t *testing.T) {
	tab := readTable(t)
	requests := map[string]any{
		"CreateTokenOrder": cardgateway.TokenOrderRequest{}, "TokenPayment": cardgateway.TokenPaymentRequest{},
		"CreateSubscription": cardgateway.SubscriptionRequest{}, "CreateCheckout": cardgateway.CheckoutRequest{},
		"CreateCheckoutSubscription": cardgateway.CheckoutSubscriptionRequest{}, "CreateRefund": cardgateway.RefundRequest{},
		"UploadTrackingNumbers": cardgateway.Shipment{},
	}
	check := func(name string, typ reflect.Type, members []tableMember, besides ...string) {
		var want, got []string
		for _, m := range members {
			if !slices.Contains(besides, m.Name) {
				want = append(want, strings.ToLower(m.Name))
			}
		}
		for field := range typ.Fields() {
			if f := strings.ToLower(field.Name); f != "extra" {
				got = append(got, f)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-table +struct):\n%s", name, diff)
		}
	}
	for _, op := range tab.bodies() {
		check(op.Name, reflect.TypeOf(requests[op.Name]), op.Members, "appId") // which the client has
	}
	for object, value := range map[string]any{
		"productInfo": cardgateway.ProductInfo{}, "address": cardgateway.Address{}, "browser": cardgateway.Browser{}, "card": cardgateway.Card{},
		"subscriptionExtension": cardgateway.SubscriptionExtension{}, "checkoutExtension": cardgateway.CheckoutExtension{},
	} {
		check(object, reflect.TypeOf(value), tab.Objects[object])
	}
}

func TestRequiredMembers(t *testing.T) {
	tab, cases := readTable(t), 0
	for _, op := range tab.bodies() {
		var all []string // of an empty request
		for _, m := range op.Members {
			if m.Name == "appId" {
				continue
			}
			var want []string
			for _, inner := range tab.Objects[m.Object] {
				if m.Type == "Object" && inner.requiredAt(m.Name) && m.Required == "R" {
					want = append(want, m.Name+"."+inner.Name+" required")
				}
			}
			if want == nil && (m.Required == "R" || m.RequiredWhen != "") {
				want = []string{m.Name + " required"}
			}
			if m.RequiredWhen == "" {
				all = append(all, want...)
			}
			doc := tab.document(op)
			delete(doc, m.Name)
			if sent, err := send(t, op, doc); (sent == nil) != (want != nil) || !slices.Equal(sortedCopy(problems(err)), sortedCopy(want)) {
				t.Errorf("%s without %s: got %v, want %v", op.Name, m.Name, problems(err), want)
			}
			cases++
			for _, inner := range tab.Objects[m.Object] {
				if m.Type == "Object" {
					doc = tab.document(op)
					delete(doc[m.Name].(map[string]any), inner.Name)
					want = nil
					if inner.requiredAt(m.Name) {
						want = []string{m.Name + "." + inner.Name + " required"}
					}
					if _, err := send(t, op, doc); !slices.Equal(problems(err), want) {
						t.Errorf("%s without %s.%s: got %v, want %v", op.Name, m.Name, inner.Name, problems(err), want)
					}
					cases++
				}
			}
		}
		_, err := send(t, op, map[string]any{})
		if diff := cmp.Diff(sortedCopy(all), sortedCopy(problems(err))); diff != "" {
			t.Errorf("%s, empty request, all at once (-table +got):\n%s", op.Name, diff)
		}
	}
	t.Logf("%d members left out", cases)
}

func sortedCopy(s []string) []string { return slices.Sorted(slices.Values(s)) }

func TestLimits(t *testing.T) {
	tab, cases := readTable(t), 0
	for _, op := range tab.bodies() {
		for _, m := range op.Members {
			if m.Limit == 0 || m.Type != "String" {
				continue
			}
			for _, tt := range []struct {
				name, value, want string
			}{
				{"at the limit", ofLength(m, m.Limit, "x"), ""},
				{"at the limit, in characters of two bytes", ofLength(m, m.Limit, "é"), ""},
				{"one over the limit", ofLength(m, m.Limit+1, "x"), m.Name + " length"},
				{"one over the limit, in characters of four bytes", ofLength(m, m.Limit+1, "🍰"), m.Name + " length"},
				{"far over the limit", ofLength(m, 5_000, "x"), m.Name + " length"},
				{"control character", ofLength(m, 20, "x") + "\n", m.Name + " format"},
			} {
				t.Run(tt.name, func(t *testing.T) {
					if m.Name == "currency" { // three capital letters and nothing else
						tt.want = m.Name + " format"
						if tt.name == "at the limit" {
							tt.value, tt.want = "USD", ""
						}
					}
					if m.Name == "transactionIp" { // an address and nothing else
						tt.want = m.Name + " format"
					}
					if m.Name == "uniqueId" { // digits and nothing else
						tt.want = m.Name + " format"
						if tt.value = strings.ReplaceAll(tt.value, "x", "1"); tt.name == "at the limit" {
							tt.want = ""
						}
					}
					doc := tab.document(op)
					doc[m.Name] = tt.value
					_, err := send(t, op, doc)
					got := problems(err)
					if strings.HasSuffix(m.Name, "Url") && tt.name == "control character" {
						got = slices.Compact(got)
					}
					if strings.Join(got, ", ") != tt.want {
						t.Errorf("%s, %s %s: got %v, want %q", op.Name, m.Name, tt.name, got, tt.want)
					}
					cases++
				})
			}
		}
	}
	t.Logf("%d values at and over a limit", cases)
}

// TestAppIDWidth: New takes the widest app id of all, each operation only its own.
func TestAppIDWidth(t *testing.T) {
	limits := make(map[string]int)
	for _, op := range readTable(t).payments() {
		limits[op.Name] = op.Members[slices.IndexFunc(op.Members, func(m tableMember) bool { return m.Name == "appId" })].Limit
	}
	for _, op := range clienttest.PaymentOperations {
		for _, width := range []int{limits[op.Name], limits[op.Name] + 1} {
			cfg := cardgateway.Config{BaseURL: clienttest.BaseURL, AppID: cardgateway.AppID(strings.Repeat("1", width))}
			var want []string
			if width > limits[op.Name] {
				want = []string{"appId format"}
			}
			if width > 32 {
				want = []string{"AppID format"}
			}
			cfg.HTTPClient = &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if want != nil {
					t.Errorf("%s: an app id of %d digits was sent", op.Name, width)
				}
				return clienttest.Respond(r, 200, "{}")
			})}
			c, err := cardgateway.New(cfg)
			if err == nil {
				_, err = op.Call(t.Context(), c, "t-1")
			}
			if got := clienttest.Problems(err); !slices.Equal(got, want) {
				t.Errorf("%s, app id of %d digits: got %v, want %v", op.Name, width, got, want)
			}
		}
	}
}

// ofLength is a value of that many characters for the member.
func ofLength(m tableMember, n int, fill string) string {
	prefix := ""
	if strings.HasSuffix(m.Name, "Url") {
		prefix = "https://shop.example/"
	}
	return prefix + strings.Repeat(fill, max(0, n-len(prefix)))
}
