package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// answer is a JSON response with its HTTP status.
type answer struct {
	status int
	header http.Header
	text   string
	data   map[string]any
}

func (a answer) code() int { n, _ := a.data["code"].(json.Number).Int64(); return int(n) }

func (a answer) str(name string) string { s, _ := a.data[name].(string); return s }

// rows returns the data of a page envelope.
func (a answer) rows() []map[string]any {
	var rows []map[string]any
	list, _ := a.data["data"].([]any)
	for _, row := range list {
		rows = append(rows, row.(map[string]any))
	}
	return rows
}

// texts returns one member of every row.
func (a answer) texts(name string) (texts []string) {
	for _, row := range a.rows() {
		texts = append(texts, fmt.Sprint(row[name]))
	}
	return texts
}

// send makes one call in memory. The body may be nil, a string, or something to encode.
func send(t *testing.T, g *Gateway, method, path string, body any) answer {
	t.Helper()
	resp, err := exchange(g, method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return readAnswer(t, resp)
}

func exchange(g *Gateway, method, path string, body any) (*http.Response, error) {
	text, ok := body.(string)
	if !ok && body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	r, err := http.NewRequest(method, "https://gateway.test"+path, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	return g.RoundTripper().RoundTrip(r)
}

func readAnswer(t *testing.T, resp *http.Response) answer {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading the answer: %v", err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, text: string(text)}
	d := json.NewDecoder(strings.NewReader(a.text))
	d.UseNumber()
	if err := d.Decode(&a.data); err != nil {
		t.Fatalf("answer %q: %v", a.text, err)
	}
	return a
}

// body returns a request body with every required member of every operation.
func body(transactionID string, changes map[string]any) map[string]any {
	m := map[string]any{
		"transactionId": transactionID, "orderId": "order-" + transactionID, "currency": "USD", "amount": "8.80",
		"transactionIp": "127.0.0.1", "appId": json.Number("98765432109876543210"),
		"callbackUrl": "https://shop.example/back", "notificationUrl": "https://shop.example/notify",
		"productInfos": []any{map[string]any{
			"productName": "Candle", "sku": "123", "quantity": 1, "price": "8.80", "currency": "USD",
			"productLink": "https://shop.example/123",
		}},
		"billingAddress": map[string]any{
			"firstName": "Ada", "lastName": "Example", "country": "US", "email": "ada@shop.example",
			"city": "Springfield", "address": "1 Sample Street", "phone": "15550100", "state": "IL", "zipCode": "62701",
		},
		"extension": map[string]any{
			"subscriptionCycle": "WEEK", "subscriptionPeriod": 3, "subscriptionDescription": "weekly candles",
		},
		"card": cardBody(Approved),
	}
	maps.Copy(m, changes)
	for name, value := range changes {
		if value == nil {
			delete(m, name)
		}
	}
	return m
}

func cardBody(o Outcome) map[string]any {
	e := TestCard(o)
	return map[string]any{
		"cardNumber": e.Number, "expiredMonth": e.Month, "expiredYear": e.Year, "cvv": e.CVV, "cardholder": e.Cardholder,
	}
}

// thisMonth returns a query with a range around now.
func thisMonth() string {
	now := time.Now().UTC()
	return "?startDate=" + now.AddDate(0, 0, -2).Format(time.DateOnly) +
		"&endingDate=" + now.AddDate(0, 0, 2).Format(time.DateOnly)
}

func wall(t time.Time) string { return url.QueryEscape(t.Format(time.DateTime)) }

// newToken creates a token for a card.
func newToken(t *testing.T, g *Gateway, transactionID string, o Outcome) string {
	t.Helper()
	a := send(t, g, "POST", "/checkout/tokenization/create", body(transactionID, nil))
	enter(t, g, a.str("redirectUrl"), o)
	return tokenOf(t, g, transactionID)
}

// enter enters a test card on a hosted page, and returns where it leads.
func enter(t *testing.T, g *Gateway, page string, o Outcome) string {
	t.Helper()
	next, err := g.EnterCard(page, TestCard(o))
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func flush(t *testing.T, g *Gateway) {
	t.Helper()
	if err := g.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// tokenOf returns the token that a token order has created.
func tokenOf(t *testing.T, g *Gateway, id string) string {
	t.Helper()
	token, err := g.Token(id)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// wantCode fails the test unless the response has the code.
func wantCode(t *testing.T, a answer, want int) {
	t.Helper()
	if a.code() != want {
		t.Fatalf("code = %d, want %d; answer %s", a.code(), want, a.text)
	}
}
