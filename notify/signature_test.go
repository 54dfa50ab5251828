package notify_test

import (
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/notify"
)

// Texts of the errors of checks.
const (
	mismatch = "the notification's signature does not match"
	unsigned = "the notification is not signed"
	noKey    = "the secret key for notifications is empty"
	noCheck  = "AnySignature was called without a check"
)

// TestSignatureSHA256Documented checks every signature of testdata whose key is known.
func TestSignatureSHA256Documented(t *testing.T) {
	checked := 0
	for name, x := range notifications(t) {
		if x.SecretKey == "" {
			continue
		}
		checked++
		t.Run(name, func(t *testing.T) {
			n := mustParseAs(t, x.body(t), x.ContentType)
			if err := notify.SignatureSHA256(x.SecretKey)(n); err != nil {
				t.Errorf("with its key: got %v, want nil", err)
			}
			if err := notify.SignatureSHA256(x.SecretKey + "x")(n); !says(err, mismatch) {
				t.Errorf("with another key: got %v, want %q", err, mismatch)
			}
		})
	}
	if checked < 5 {
		t.Errorf("signatures checked: got %d, want at least 5", checked)
	}
}

func TestSignatureSHA256(t *testing.T) {
	const signed = `"sign":"1ecd74d78d8df6914bc553587967fe0662f6e1e4f726e2cff849940b0d3c9286"`
	const members = `"code":100,"appId":77,"uniqueId":"987654321","transactionType":"Sale","transactionCurrency":"USD",` +
		`"transactionAmount":"20.00","transactionId":"WG-SIGN-TEST","timestamp":1756180000`
	tests := []struct {
		name, key, body string
		want            string
	}{
		{"as published", "test-secret", `{` + members + `,` + signed + `}`, ""},
		{"signature first", "test-secret", `{` + signed + `,` + members + `}`, ""},
		{"signature in capital letters", "test-secret", `{` + members + `,"sign":` + strings.ToUpper(signed[7:]) + `}`, ""},
		{"nested members left out", "test-secret", `{` + members + `,"a":{"b":1},"c":["d"],` + signed + `}`, ""},
		{"empty members left out", "test-secret", `{` + members + `,"a":"","c":null,` + signed + `}`, ""},
		{"escapes undone", "test-secret", `{` + strings.Replace(members, "Sale", `S\u0061le`, 1) + `,` + signed + `}`, ""},
		{"a changed value", "test-secret", `{` + strings.Replace(members, "20.00", "21.00", 1) + `,` + signed + `}`, mismatch},
		{"a number written otherwise", "test-secret", `{` + strings.Replace(members, `"code":100`, `"code":1e2`, 1) + `,` + signed + `}`, mismatch},
		{"an additional value", "test-secret", `{` + members + `,"isTest":true,` + signed + `}`, mismatch},
		{"no signature", "test-secret", `{` + members + `}`, unsigned},
		{"an empty signature", "test-secret", `{` + members + `,"sign":""}`, unsigned},
		{"a signature that is an array", "test-secret", `{` + members + `,"sign":["1e"]}`, unsigned},
		{"half a signature", "test-secret", `{` + members + `,"sign":"1ecd74d78d8df6914bc553587967fe06"}`, mismatch},
		{"a signature that is no hexadecimal", "test-secret", `{` + members + `,"sign":"zz"}`, mismatch},
		{"an empty key", "", `{` + members + `,` + signed + `}`, noKey},
		// SHA-256 of nothing: what an empty key would accept of an empty object.
		{"an empty key and nothing signed", "", `{"sign":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`, noKey},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := notify.SignatureSHA256(tt.key)(mustParse(t, tt.body)); !says(err, tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := notify.SignatureSHA256("test-secret")(&notify.Notification{}); !says(err, unsigned) {
		t.Errorf("a notification that was not parsed: got %v, want %q", err, unsigned)
	}
}

// TestSignatureCoversWhatWasSent: the buffer may be reused after parsing.
func TestSignatureCoversWhatWasSent(t *testing.T) {
	x := notifications(t)["vector"]
	body := []byte(string(x.body(t)))
	n := mustParseAs(t, body, x.ContentType)
	clear(body)
	if err := notify.SignatureSHA256(x.SecretKey)(n); err != nil {
		t.Errorf("after the buffer was overwritten: got %v, want nil", err)
	}
}

func TestAnySignature(t *testing.T) {
	x := notifications(t)["vector"]
	n := mustParseAs(t, x.body(t), x.ContentType)
	right, wrong, empty := notify.SignatureSHA256(x.SecretKey), notify.SignatureSHA256("other"), notify.SignatureSHA256("")
	tests := []struct {
		name   string
		verify []func(*notify.Notification) error
		want   string
	}{
		{"the new key", []func(*notify.Notification) error{right, wrong}, ""},
		{"the old key", []func(*notify.Notification) error{wrong, right}, ""},
		{"no key fits", []func(*notify.Notification) error{wrong, wrong}, mismatch},
		{"an empty key accepts nothing", []func(*notify.Notification) error{wrong, empty}, noKey},
		{"none", nil, noCheck},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := notify.AnySignature(tt.verify...)(n); !says(err, tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
