package cardgateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// TestSecretsAreNotPrinted: a request with a card or a token, the error for a gateway that repeats it, and what the client logs show nothing of the
// secrets. Package
// proof/leaks tries every sink, shape and response.
func TestSecretsAreNotPrinted(t *testing.T) {
	echo := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(w).Encode(map[string]any{"code": 400, "message": r.URL.Path + string(body)})
	})
	var printed strings.Builder
	log := slog.New(slog.NewJSONHandler(&printed, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: echo.URL, Logger: log,
		Authenticate: cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey),
	})
	card := clienttest.NewCard(clienttest.CardNumber, clienttest.CVV)
	values := []any{card, clienttest.SubscriptionRequest("t-1", card), cardgateway.NewToken(clienttest.Token), c}
	for _, op := range clienttest.PaymentOperations {
		if _, err := op.Call(t.Context(), c, "t-1"); err != nil {
			values = append(values, err)
		}
	}
	if len(values) != 4+len(clienttest.PaymentOperations) {
		t.Fatalf("got %d errors, want one of each operation", len(values)-4)
	}
	for _, v := range values {
		text, err := json.Marshal(v)
		fmt.Fprintf(&printed, "%v %+v %#v %s %v", v, v, v, text, err)
		log.Info("printed", "value", v)
	}
	text := regexp.MustCompile(`0x[0-9a-f]+|127\.0\.0\.1:[0-9]+|"(time|duration)":[^,]*|time\.Date\([^)]*\)|:[0-9]{2}:[0-9]{2}\.[0-9]+`).ReplaceAllString(printed.String(), "") // they can have the digits of the CVV
	if leaked := clienttest.Leaked(text, clienttest.CardNumber, clienttest.CVV, clienttest.Token, clienttest.SecretKey); len(leaked) > 0 {
		t.Errorf("%v are shown", leaked)
	}
}
