package leaks_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"expvar"
	"fmt"
	htmltemplate "html/template"
	"log"
	"log/slog"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// A card number, a verification code and a token show nothing of themselves, wherever a program may print them: each
// sink is tried with each shape in which a program may hold the secret.

// sinks write a value somewhere and return what can be read there.
var sinks = map[string]func(v any) string{
	"slog text": func(v any) string { return logged(v, false) },
	"slog json": func(v any) string { return logged(v, true) },
	"log":       func(v any) string { var b bytes.Buffer; log.New(&b, "", 0).Print(v); return b.String() },
	"json":      func(v any) string { return written(json.Marshal(v)) },
	"json indented": func(v any) string {
		return written(json.MarshalIndent(map[string]any{"outer": []any{v}}, "", "  "))
	},
	"xml": func(v any) string { return written(xml.Marshal(v)) },
	"gob": func(v any) string {
		var b bytes.Buffer
		err := gob.NewEncoder(&b).Encode(v)
		return b.String() + errorText(err)
	},
	"binary": func(v any) string {
		var b bytes.Buffer
		err := binary.Write(&b, binary.BigEndian, v)
		return b.String() + errorText(err)
	},
	"text template": func(v any) string {
		var b strings.Builder
		err := template.Must(template.New("").Parse(`{{.}} {{printf "%v %+v %#v %s %x" . . . . .}} {{html .}} {{js .}}`)).Execute(&b, v)
		return b.String() + errorText(err)
	},
	"html template": func(v any) string {
		var b strings.Builder
		err := htmltemplate.Must(htmltemplate.New("").Parse(`<a title="{{.}}">{{.}}</a><script>x = {{.}}</script>`)).Execute(&b, v)
		return b.String() + errorText(err)
	},
	"expvar":           func(v any) string { return expvar.Func(func() any { return v }).String() },
	"error":            func(v any) string { return fmt.Errorf("failed: %w: %v", errors.New("cause"), v).Error() },
	"joined errors":    func(v any) string { return fmt.Sprintf("%+v", errors.Join(fmt.Errorf("%v", v), fmt.Errorf("%#v", v))) },
	"recovered panic":  recovered,
	"query string":     func(v any) string { return url.Values{"v": {fmt.Sprint(v)}}.Encode() },
	"comparison":       compared,
	"deep printer":     func(v any) string { return clienttest.DeepPrint(v, false) },
	"prying printer":   func(v any) string { return clienttest.DeepPrint(v, true) },
	"context value":    func(v any) string { return fmt.Sprint(context.WithValue(context.Background(), contextKey{}, v)) },
	"decoding errors":  decodedInto,
	"unquoted strings": func(v any) string { return strconv.Quote(fmt.Sprintln(v)) + fmt.Sprintf("%6.2v|%-20v|%+q", v, v, v) },
}

type contextKey struct{}

// allSinks are the sinks above and every verb of fmt, plain and with flags.
func allSinks() map[string]func(v any) string {
	all := maps.Clone(sinks)
	for _, verb := range "vsqxXdcobOUeEfFgGtpTw" {
		for _, flags := range []string{"", "+", "#", "# ", "-30.5"} {
			format := "%" + flags + string(verb)
			all["fmt "+format] = func(v any) string { return fmt.Sprintf(format, v) }
		}
	}
	return all
}

func logged(v any, asJSON bool) string {
	var b bytes.Buffer
	options := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // so that two runs can be compared
		}
		return a
	}}
	var h slog.Handler = slog.NewTextHandler(&b, options)
	if asJSON {
		h = slog.NewJSONHandler(&b, options)
	}
	l := slog.New(h)
	l.Info("message", "value", v, slog.Group("group", slog.Any("inner", v)))
	l.With("bound", v).WithGroup("g").Debug("message")
	return b.String()
}

func recovered(v any) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	panic(v)
}

func compared(v any) (text string) {
	defer func() { // values that cannot be compared make it panic, with a text
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	return cmp.Diff(v, any("something else")) + cmp.Diff([]any{v}, []any{nil})
}

func decodedInto(v any) string {
	number, code, token := cardgateway.NewCardNumber(sinkSecrets[0]), cardgateway.NewCVV(sinkSecrets[1]), cardgateway.NewToken(sinkSecrets[2])
	quoted, _ := json.Marshal(sinkSecrets[0])
	return errorText(json.Unmarshal(quoted, &number)) + errorText(json.Unmarshal([]byte(sinkSecrets[1]), &code)) +
		errorText(token.UnmarshalText([]byte(sinkSecrets[2]))) + errorText(json.Unmarshal([]byte(`{"v":1}`), v))
}

func written(data []byte, err error) string { return string(data) + errorText(err) }

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%v %+v %#v", err, err, err)
}

// sinkSecrets are long enough not to turn up by chance.
var sinkSecrets = []string{clienttest.CardNumber, "31415926535", "tok_9f8e7d6c5b4a"}

// shapes hold a secret in the ways in which programs hold it.
func shapes(secrets ...string) map[string]any {
	type inField struct{ Secret any }
	type unexported struct {
		number cardgateway.CardNumber
		code   cardgateway.CVV
		token  cardgateway.Token
		card   cardgateway.Card
		any    any
	}
	type embedded struct {
		cardgateway.Card
		Name string
	}
	number, code, token := cardgateway.NewCardNumber(secrets[0]), cardgateway.NewCVV(secrets[1]), cardgateway.NewToken(secrets[2])
	card := clienttest.NewCard(secrets[0], secrets[1])
	request := clienttest.SubscriptionRequest("t", card)
	return map[string]any{
		"number": number, "code": code, "token": token, "card": card, "request": request,
		"pointer to number": &number, "pointer to code": &code, "pointer to token": &token, "pointer to card": &card,
		"pointer to request": &request, "pointer to pointer": new(&request),
		"exported field": inField{number}, "unexported fields": unexported{number, code, token, card, nil},
		"pointer to unexported fields": &unexported{number, code, token, card, &card}, "embedded": embedded{card, "n"},
		"slice of tokens": []cardgateway.Token{token, token}, "slice of any": []any{number, code, token, card}, "array": [2]cardgateway.CVV{code, code},
		"map": map[string]cardgateway.Token{"token": token}, "map of any": map[any]any{"a": map[string]any{"b": number, "c": &code}},
		"extra": cardgateway.TokenOrderRequest{Extra: map[string]any{"card": card, "token": token}},
		"func":  func() cardgateway.Token { return token }, "channel": make(chan cardgateway.Token, 1),
	}
}

func TestSecretsReachNoSink(t *testing.T) {
	all, tried, leaks := allSinks(), 0, 0
	for name, sink := range all {
		t.Run(name, func(t *testing.T) {
			for shape, value := range shapes(sinkSecrets...) {
				tried++
				out := sink(value)
				if found := clienttest.Leaked(out, sinkSecrets...); found != nil {
					leaks++
					t.Errorf("%s of %s leaks %q:\n%.300s", name, shape, found, out)
				}
			}
		})
	}
	t.Logf("sinks: %d, shapes: %d, sinks tried: %d, leaks: %d", len(all), len(shapes(sinkSecrets...)), tried, leaks)
}

// TestSinksCanLeak makes sure that the test above would see a leak: plain texts get through nearly everywhere.
func TestSinksCanLeak(t *testing.T) {
	type plain struct{ Number, number string }
	all, leaks := allSinks(), 0
	for _, sink := range all {
		if clienttest.Leaked(sink(plain{clienttest.CardNumber, clienttest.CardNumber}), clienttest.CardNumber) != nil {
			leaks++
		}
	}
	if leaks < len(all)/2 {
		t.Errorf("a plain text leaks in %d of %d sinks: the search finds too little", leaks, len(all))
	}
}

// TestTwoCodesPrintTheSame needs no list of forms: whatever is printed must not depend on the verification code, nor
// on the token, nor on the digits of the number that are not shown.
func TestTwoCodesPrintTheSame(t *testing.T) {
	one, two := shapes("4111112222221111", "123", "token-one"), shapes("4111119876541111", "9876", "token-two-is-longer")
	for name, sink := range allSinks() {
		t.Run(name, func(t *testing.T) {
			for _, shape := range []string{"number", "code", "token", "card", "request", "slice of any", "array", "unexported fields"} {
				if strings.HasSuffix(name, "p") && strings.HasPrefix(name, "fmt") {
					continue // an address
				}
				a, b := sink(one[shape]), sink(two[shape])
				if a != b {
					t.Errorf("%s of %s depends on the secret:\n%.200s\n%.200s", name, shape, a, b)
				}
			}
		})
	}
}

// TestTokenCipherKeepsItsKeys: the keys are copied, and no sink shows them or what is derived from them.
func TestTokenCipherKeepsItsKeys(t *testing.T) {
	key, older := []byte("a-key-that-must-not-be-printed-1"), []byte("a-key-that-must-not-be-printed-2")
	c, err := cardgateway.NewTokenCipher(key, older)
	if err != nil {
		t.Fatal(err)
	}
	for name, sink := range allSinks() {
		t.Run(name, func(t *testing.T) {
			for _, v := range []any{c, *c, struct{ C *cardgateway.TokenCipher }{c}, []any{c}, map[string]any{"cipher": c}} {
				if leaked := clienttest.Leaked(sink(v), string(key), string(older)); len(leaked) > 0 {
					t.Errorf("%T shows %v", v, leaked)
				}
			}
		})
	}
	if text := clienttest.DeepPrint(c, true); strings.Contains(text, "gcm.") || strings.Contains(text, "aes") {
		t.Error("a deep printer reaches the derived key")
	}
	text, err := c.Encrypt(cardgateway.NewToken("tok"), "C-1")
	if err != nil {
		t.Fatal(err)
	}
	clear(key)
	clear(older)
	if got, err := c.Decrypt(text, "C-1"); err != nil || got.Reveal() != "tok" {
		t.Errorf("after the caller's key was cleared: got %v, %v", got, err)
	}
}
