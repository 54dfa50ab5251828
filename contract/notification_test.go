package contract

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// webhook returns the schema of the notifications, each as a branch of it.
func webhook(t *testing.T) (schema, []schema) {
	t.Helper()
	document := served(t)
	post := document["webhooks"].(schema)["notification"].(schema)["post"].(schema)
	body := inline(content(post["requestBody"]), document["components"].(schema)["schemas"].(schema)).(schema)
	return body, subschemas(body, "anyOf")
}

// merchant receives the notifications of a sandbox.
type merchant struct {
	t      *testing.T
	mu     sync.Mutex
	bodies []string
}

func (m *merchant) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || err != nil {
		m.t.Errorf("got a %s of %q, error %v; want a POST of JSON", r.Method, r.Header.Get("Content-Type"), err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bodies = append(m.bodies, string(body))
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// notifications returns the notifications of payments with every outcome, of a token order, refunds and a chargeback.
func notifications(t *testing.T, options sandbox.Options) []string {
	t.Helper()
	m := &merchant{t: t}
	options.Notifications.Transport = m
	options.RefundSettleAfter = -1
	g := sandbox.New(options)
	defer g.Close()
	d, err := read(served(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{T: t, description: d, v: newValues(*seed)}
	r.v.client, r.v.full = true, true
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	plain := &gateway{Gateway: g, transport: g.RoundTripper()}
	var paid answer
	for _, outcome := range []sandbox.Outcome{sandbox.Declined, sandbox.Pending, sandbox.Approved} {
		document := r.document("CreateSubscription")
		document["card"].(map[string]any)["cvv"] = sandbox.TestCard(outcome).CVV
		if paid = r.send(plain, "CreateSubscription", document); outcome == sandbox.Pending {
			do(g.CloseOrder(paid.UniqueID))
		}
	}
	_, err = g.EnterCard(r.send(plain, "CreateTokenOrder", r.document("CreateTokenOrder")).RedirectURL, sandbox.TestCard(sandbox.Approved))
	do(err)
	for id, made := range map[string]bool{"made": true, "refused": false} {
		_, err := g.Refund(paid.UniqueID, "1.00", id)
		do(err)
		do(g.SettleRefund(id, made))
	}
	do(g.Chargeback(paid.UniqueID))
	do(g.Flush(t.Context()))
	return m.bodies
}

// TestNotificationsOfTheSandbox: every notification of the sandbox is described by one schema of the webhook, every member of them
// is described, and every described member is sent.
func TestNotificationsOfTheSandbox(t *testing.T) {
	t.Parallel()
	whole, branches := webhook(t)
	sent := make([]schema, len(branches)) // one document of each with all members
	for i := range sent {
		sent[i] = schema{}
	}
	for _, options := range []sandbox.Options{{}, {SecretKey: "test-secret"}} {
		for _, body := range notifications(t, options) {
			document, err := decode([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if err := compile(whole).Validate(document); err != nil {
				t.Errorf("got %s: %v", body, err)
			}
			described := 0
			for i, branch := range branches {
				if compile(closed(branch)).Validate(document) == nil {
					described++
					maps.Copy(sent[i], document.(schema))
				}
			}
			if described != 1 {
				t.Errorf("got %d schemas that describe every member, want 1: %s", described, body)
			}
		}
	}
	for i, branch := range branches {
		for name := range properties(branch) {
			if sent[i][name] == nil {
				t.Errorf("schema %d describes %s, which is never sent", i+1, name)
			}
		}
	}
}

// TestPublishedNotifications: the published examples are described.
func TestPublishedNotifications(t *testing.T) {
	t.Parallel()
	_, branches := webhook(t)
	for i, name := range []string{"transaction", "refund", "chargeback"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "testdata", "notifications", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var example struct{ Body json.RawMessage }
			if err := json.Unmarshal(text, &example); err != nil {
				t.Fatal(err)
			}
			document, err := decode(example.Body)
			if err != nil {
				t.Fatal(err)
			}
			if err := compile(closed(branches[i])).Validate(document); err != nil {
				t.Error(err)
			}
		})
	}
}
