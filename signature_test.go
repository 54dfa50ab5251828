package cardgateway

import (
	"errors"
	"strings"
	"testing"
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
			n, err := ParseNotification(x.body(t), x.ContentType)
			if err != nil {
				t.Fatal(err)
			}
			if err := SignatureSHA256(x.SecretKey)(n); err != nil {
				t.Errorf("with its key: got %v, want nil", err)
			}
			if err := SignatureSHA256(x.SecretKey + "x")(n); !errors.Is(err, errSignature) {
				t.Errorf("with another key: got %v, want %v", err, errSignature)
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
		want            error
	}{
		{"as published", "test-secret", `{` + members + `,` + signed + `}`, nil},
		{"signature first", "test-secret", `{` + signed + `,` + members + `}`, nil},
		{"signature in capital letters", "test-secret", `{` + members + `,"sign":` + strings.ToUpper(signed[7:]) + `}`, nil},
		{"nested members left out", "test-secret", `{` + members + `,"a":{"b":1},"c":["d"],` + signed + `}`, nil},
		{"empty members left out", "test-secret", `{` + members + `,"a":"","c":null,` + signed + `}`, nil},
		{"escapes undone", "test-secret", `{` + strings.Replace(members, "Sale", `S\u0061le`, 1) + `,` + signed + `}`, nil},
		{"a changed value", "test-secret", `{` + strings.Replace(members, "20.00", "21.00", 1) + `,` + signed + `}`, errSignature},
		{"a number written otherwise", "test-secret", `{` + strings.Replace(members, `"code":100`, `"code":1e2`, 1) + `,` + signed + `}`, errSignature},
		{"an additional value", "test-secret", `{` + members + `,"isTest":true,` + signed + `}`, errSignature},
		{"no signature", "test-secret", `{` + members + `}`, errNoSignature},
		{"an empty signature", "test-secret", `{` + members + `,"sign":""}`, errNoSignature},
		{"a signature that is an array", "test-secret", `{` + members + `,"sign":["1e"]}`, errNoSignature},
		{"half a signature", "test-secret", `{` + members + `,"sign":"1ecd74d78d8df6914bc553587967fe06"}`, errSignature},
		{"a signature that is no hexadecimal", "test-secret", `{` + members + `,"sign":"zz"}`, errSignature},
		{"an empty key", "", `{` + members + `,` + signed + `}`, errNoSecretKey},
		// SHA-256 of nothing: what an empty key would accept of an empty object.
		{"an empty key and nothing signed", "", `{"sign":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`, errNoSecretKey},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := SignatureSHA256(tt.key)(mustParse(t, tt.body)); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	if err := SignatureSHA256("test-secret")(&Notification{}); !errors.Is(err, errNoSignature) {
		t.Errorf("a notification that was not parsed: got %v, want %v", err, errNoSignature)
	}
}

// TestSignatureCoversWhatWasSent shows that the buffer may be used again after parsing.
func TestSignatureCoversWhatWasSent(t *testing.T) {
	x := notifications(t)["vector"]
	body := []byte(string(x.body(t)))
	n, err := ParseNotification(body, x.ContentType)
	if err != nil {
		t.Fatal(err)
	}
	clear(body)
	if err := SignatureSHA256(x.SecretKey)(n); err != nil {
		t.Errorf("after the buffer was overwritten: got %v, want nil", err)
	}
}

func TestAnySignature(t *testing.T) {
	x := notifications(t)["vector"]
	n, err := ParseNotification(x.body(t), x.ContentType)
	if err != nil {
		t.Fatal(err)
	}
	right, wrong, empty := SignatureSHA256(x.SecretKey), SignatureSHA256("other"), SignatureSHA256("")
	tests := []struct {
		name   string
		verify []func(*Notification) error
		want   error
	}{
		{"the new key", []func(*Notification) error{right, wrong}, nil},
		{"the old key", []func(*Notification) error{wrong, right}, nil},
		{"no key fits", []func(*Notification) error{wrong, wrong}, errSignature},
		{"an empty key accepts nothing", []func(*Notification) error{wrong, empty}, errNoSecretKey},
		{"none", nil, errNoVerifier},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := AnySignature(tt.verify...)(n); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}
