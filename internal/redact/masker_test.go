package redact_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/internal/redact"
)

// The secrets of a call, short ones and ones that are long enough to be searched for in identifiers, and another card
// number.
const (
	shortSent, longSent             = "sent", "sent-sent-sent"
	shortCredential, longCredential = "cred", "cred-cred-cred"
	card                            = "4539000000000001"
)

func masker(inError bool) redact.Masker {
	return redact.Masker{
		Sent: secretsOf(longSent, shortSent), Credentials: secretsOf(longCredential, shortCredential), InError: inError,
	}
}

// TestMaskerTexts checks what is masked in each kind of member, in a result and in one that is part of an error.
func TestMaskerTexts(t *testing.T) {
	for _, tt := range []struct {
		name               string
		mask               func(redact.Masker, ...*string)
		text               string
		inResult, inErrors string
	}{
		{"an id", redact.Masker.IDs, "1 " + longSent, "1 ***", "1 ***"},
		{"an id with a short secret", redact.Masker.IDs, "1 " + shortSent, "1 sent", "1 sent"},
		{"an id with a credential", redact.Masker.IDs, "1 " + longCredential, "1 cred-cred-cred", "1 cred-cred-cred"},
		{"an id like a card", redact.Masker.IDs, card, card, card},
		{"a message", redact.Masker.Messages, "no " + shortSent + ", " + longCredential, "no ***, ***", "no ***, ***"},
		{"a message with a short credential", redact.Masker.Messages, "no " + shortCredential, "no cred", "no ***"},
		{"a message with a card", redact.Masker.Messages, "card " + card, "card " + card, "card 453900******0001"},
		{"a text", redact.Masker.Texts, "no " + shortSent + ", " + longCredential, "no ***, ***", "no ***, ***"},
		{"a text with a short credential", redact.Masker.Texts, "no " + shortCredential, "no cred", "no cred"},
		{"a text with a card", redact.Masker.Texts, "card " + card, "card " + card, "card 453900******0001"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for inError, want := range map[bool]string{false: tt.inResult, true: tt.inErrors} {
				first, second := tt.text, tt.text
				tt.mask(masker(inError), &first, &second)
				if first != want || second != want {
					t.Errorf("%s, in an error %t: got %q and %q, want %q", tt.name, inError, first, second, want)
				}
			}
		})
	}
}

func TestMaskerURL(t *testing.T) {
	for inError, want := range map[bool]string{false: "https://pay.example/" + shortSent, true: ""} {
		url := "https://pay.example/" + shortSent
		if masker(inError).URL(&url); url != want {
			t.Errorf("in an error %t: got %q, want %q", inError, url, want)
		}
	}
}

func TestMaskerMembers(t *testing.T) {
	for inError, want := range map[bool]map[string]string{
		false: {
			"***": `"***"`, "value": `"***"`, "key": `"***"`, "short": `"cred"`, "card": card, "escaped": `"453900000000\u0030001"`, "of " + card: `1`,
			"reference": `"123456789012"`,
		},
		true: {
			"***": `"***"`, "value": `"***"`, "key": `"***"`, "short": `"***"`, "card": `"***"`, "escaped": `"***"`, "of 453900******0001": `"***"`,
			"reference": `"123456789012"`,
		},
	} {
		got := raw(map[string]string{
			shortSent: `1`, "value": `"sent"`, "key": `"cred-cred-cred"`, "short": `"cred"`, "card": card, "escaped": `"453900000000\u0030001"`, "of " + card: `1`,
			"reference": `"123456789012"`,
		})
		masker(inError).Members(got)
		if diff := cmp.Diff(raw(want), got); diff != "" {
			t.Errorf("in an error %t (-want +got):\n%s", inError, diff)
		}
	}
	redact.WithheldValue()[0] = 'x' // is the caller's own
	if got := string(redact.WithheldValue()); got != `"***"` {
		t.Errorf("WithheldValue: got %s", got)
	}
}

func TestMaskerAddressMembers(t *testing.T) {
	onlyCredentials := redact.Masker{Credentials: secretsOf(longCredential, shortCredential)}
	kept := onlyCredentials
	kept.InError = true
	for _, tt := range []struct {
		name   string
		masker redact.Masker
		want   map[string]any
	}{
		{"beside a card", masker(false), nil},
		{"in an error", kept, nil},
		{"with credentials", onlyCredentials, map[string]any{"long": redact.WithheldValue(), "short": json.RawMessage(`"cred"`), "given": longCredential}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			members := map[string]any{
				"long": json.RawMessage(`"` + longCredential + `"`), "short": json.RawMessage(`"cred"`), "given": longCredential,
			}
			tt.masker.AddressMembers(&members)
			if diff := cmp.Diff(tt.want, members); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		})
	}
}
