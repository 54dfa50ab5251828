package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
)

// tableMember is one row of testdata/interface.json.
type tableMember struct {
	Name, Type, Required, RequiredWhen, In, Format, Object string
	Limit, Digits, Decimals                                int
	PublicFacts                                            struct {
		Required                string
		Limit, Digits, Decimals int
	}
}

// published returns the row with the published limits instead of the interface's.
func (m tableMember) published() tableMember {
	m.Limit, m.Digits, m.Decimals = m.PublicFacts.Limit, m.PublicFacts.Digits, m.PublicFacts.Decimals
	return m
}

// atLimit returns a value at exactly the limit of a row, and one just beyond each of its limits.
func atLimit(m tableMember) (fits any, beyond []any) {
	text := func(n int) any {
		switch {
		case m.Name == "country" || m.Name == "currency":
			return strings.Repeat("U", n)
		case m.Format == "URL":
			const start = "https://shop.example/"
			return start + strings.Repeat("x", n-len(start))
		case m.Type == "Number":
			return json.Number(strings.Repeat("1", n))
		case m.Name == "subscriptionCycle": // the longest of the published list
			return "THREE_MONTHS" + strings.Repeat("X", n-len("THREE_MONTHS"))
		}
		return strings.Repeat("單", n)
	}
	if m.Digits > 0 {
		whole := strings.Repeat("9", m.Digits-m.Decimals)
		fraction := strings.Repeat("9", m.Decimals)
		return whole + "." + fraction, []any{whole + "9." + fraction, "1." + fraction + "9"}
	}
	return text(m.Limit), []any{text(m.Limit + 1)}
}

// wholeBody is a request with every member that the tables name.
func wholeBody(transactionID string) map[string]any {
	address := map[string]any{
		"firstName": "Ada", "lastName": "Example", "country": "US", "email": "ada@shop.example", "city": "Springfield",
		"address": "1 Sample Street", "phone": "15550100", "state": "IL", "zipCode": "62701",
	}
	m := body(transactionID, map[string]any{"shippingAddress": address, "browser": map[string]any{"userAgent": "x"}})
	delete(m, "secure")
	return m
}

// inside returns a body in which one member of an object, or of an object in an array, has another value.
func inside(whole map[string]any, object, member string, value any) map[string]any {
	m := maps.Clone(whole)
	switch o := m[object].(type) {
	case map[string]any:
		o = maps.Clone(o)
		o[member] = value
		m[object] = o
	case []any:
		o = []any{maps.Clone(o[0].(map[string]any))}
		o[0].(map[string]any)[member] = value
		m[object] = o
	}
	return m
}

// TestEveryLimit sends, for every limit of the interface and every published limit, a value that just fits and one that
// just does not. Limits that are only published apply with Options.PublishedLimits only.
func TestEveryLimit(t *testing.T) {
	table := readInterface(t)
	// Exceptions from the tables: a card number has 12 to 19 digits, a CVV three or four, and month and year of the expiry
	// date two each, whatever a String of that length could contain; the longest subscriptionCycle of the list has 12
	// letters.
	departures := map[string]bool{
		"card.cardNumber": true, "card.cvv": true, "card.expiredMonth": true, "card.expiredYear": true,
		"extension.subscriptionCycle": true,
	}
	checked := 0
	for _, op := range table.Operations {
		if !op.Payment {
			continue
		}
		for _, published := range []bool{false, true} {
			g := New(Options{PublishedLimits: published, NoNotifications: true, Duplicates: DuplicatesExecuted})
			path := strings.ReplaceAll(op.Path, "{tokenization}", g.NewToken(Approved))
			try := func(name string, m map[string]any, member string, wantRefused bool) {
				t.Helper()
				checked++
				a := send(t, g, op.Method, path, m)
				refused := a.code() == codes.ParameterError && strings.Contains(a.str("transactionMessage"), member)
				if refused != wantRefused || !wantRefused && a.code() == codes.ParameterError {
					t.Errorf("%s, published limits %v: %s: refused %v, want %v: %s", op.Name, published, name, refused, wantRefused, a.text)
				}
			}
			whole := wholeBody("t")
			try("whole", whole, "", false)
			members := op.Members
			for _, m := range table.PublishedMembers[op.Name] {
				m.PublicFacts.Limit, m.Limit = m.Limit, 0
				members = append(members, m)
			}
			for _, m := range members {
				if m.Limit > 0 || m.Digits > 0 {
					fits, beyond := atLimit(m)
					try(m.Name+" fits", with(whole, m.Name, fits), m.Name, false)
					for _, value := range beyond {
						try(m.Name+" beyond", with(whole, m.Name, value), m.Name, true)
					}
				} else if m.PublicFacts.Limit > 0 && m.Type == "String" {
					fits, beyond := atLimit(m.published())
					try(m.Name+" fits", with(whole, m.Name, fits), m.Name, false)
					try(m.Name+" beyond", with(whole, m.Name, beyond[0]), m.Name, published)
				}
				object := m.Object
				if object == "" || op.Name == "TokenPayment" && m.Name != "productInfos" {
					continue
				}
				rows := table.Objects[object]
				for _, row := range table.PublishedMembers[object] {
					row.PublicFacts.Limit, row.Limit = row.Limit, 0
					rows = append(rows, row)
				}
				for _, row := range rows {
					at := m.Name + "." + row.Name
					always := row.Limit > 0 // the interface has the limit itself
					p := row.published()
					if departures[at] || p.Limit == 0 && p.Digits == 0 {
						continue
					}
					fits, beyond := atLimit(p)
					try(at+" fits", inside(whole, m.Name, row.Name, fits), row.Name, false)
					for _, value := range beyond {
						try(at+" beyond", inside(whole, m.Name, row.Name, value), row.Name, published || always)
					}
				}
			}
		}
	}
	if checked < 500 {
		t.Errorf("only %d cases came out of the tables", checked)
	}
	t.Logf("%d cases", checked)
}

func with(whole map[string]any, member string, value any) map[string]any {
	m := maps.Clone(whole)
	m[member] = value
	return m
}

// TestPublishedRules tests published rules other than lengths.
func TestPublishedRules(t *testing.T) {
	whole := wholeBody("t")
	type test struct {
		name    string
		body    map[string]any
		problem string
	}
	tests := []test{
		{"whole", whole, ""},
		{"unknown cycle", inside(whole, "extension", "subscriptionCycle", "FORTNIGHT"), "subscriptionCycle"},
		{"java as text", inside(whole, "browser", "javaEnabled", "true"), "javaEnabled"},
		{"java", inside(whole, "browser", "javaEnabled", true), ""},
		{"domain as a number", with(whole, "domain", 7), "domain"},
	}
	for _, cycle := range []string{"DAY", "WEEK", "MONTH", "THREE_MONTHS", "SIX_MONTHS", "YEAR"} {
		tests = append(tests, test{cycle, inside(whole, "extension", "subscriptionCycle", cycle), ""})
	}
	for _, name := range []string{"firstName", "lastName", "country", "email", "city", "address", "phone", "state", "zipCode"} {
		tests = append(tests, test{"shippingAddress without " + name, inside(whole, "shippingAddress", name, ""), "shippingAddress." + name})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for published, problem := range map[bool]string{true: tt.problem, false: ""} {
				g := New(Options{PublishedLimits: published, NoNotifications: true})
				a := send(t, g, "POST", "/api/subscription", tt.body)
				refused := a.code() == codes.ParameterError && strings.Contains(a.str("transactionMessage"), problem)
				if refused != (problem != "") {
					t.Errorf("published limits %v: %s, want problem %q", published, a.text, problem)
				}
			}
		})
	}
}

// TestQueryLimits tests lengths of n and n+1 for every id of the three queries.
func TestQueryLimits(t *testing.T) {
	g := New(Options{})
	const dates = "?startDate=2024-02-01&endingDate=2024-02-02"
	for list, names := range map[string][]string{
		"order":  {"uniqueId", "orderId", "transactionId"},
		"refund": {"uniqueId", "transactionId", "refundTransactionId", "refundUniqueId"},
	} {
		for _, name := range names {
			for n, want := range map[int]int{128: 121, 129: 500} {
				a := send(t, g, "GET", fmt.Sprintf("/search/list/%s%s&%s=%s", list, dates, name, strings.Repeat("1", n)), nil)
				if a.code() != want {
					t.Errorf("%s, %s of %d characters: %s, want code %d", list, name, n, a.text, want)
				}
			}
		}
	}
	for n, want := range map[int]int{128: 404, 129: 500} {
		if a := send(t, g, "GET", "/search/order/"+strings.Repeat("1", n), nil); a.code() != want {
			t.Errorf("uniqueId of %d: %s, want code %d", n, a.text, want)
		}
	}
}
