package secret_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/secret"
)

// shortened shows the number of bytes and the last one: a mask that depends on the value.
func shortened(b []byte) string {
	if len(b) == 0 {
		return "wiped"
	}
	return fmt.Sprintf("<%d…%c>", len(b), b[len(b)-1])
}

func TestValue(t *testing.T) {
	wiped := secret.New("4111", shortened)
	clear(secret.Reveal(wiped))
	for _, tt := range []struct {
		name     string
		value    secret.Value
		revealed string
		printed  string
	}{
		{"zero", secret.Value{}, "", ""},
		{"made of nothing", secret.New("", shortened), "", ""},
		{"one byte", secret.New("7", shortened), "7", "<1…7>"},
		{"a number", secret.New("4111111111111111", shortened), "4111111111111111", "<16…1>"},
		{"any text", secret.New("tök/é\n", shortened), "tök/é\n", "<8…\n>"},
		{"wiped", wiped, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(secret.Reveal(tt.value)); got != tt.revealed {
				t.Errorf("Reveal: got %q, want %q", got, tt.revealed)
			}
			if got := tt.value.IsZero(); got != (tt.revealed == "") {
				t.Errorf("IsZero: got %t", got)
			}
			text, textErr := tt.value.MarshalText()
			for name, got := range map[string]string{
				"String": tt.value.String(), "GoString": tt.value.GoString(), "LogValue": tt.value.LogValue().String(), "MarshalText": string(text),
				"%v": fmt.Sprintf("%v", tt.value), "%+v": fmt.Sprintf("%+v", tt.value), "%#v": fmt.Sprintf("%#v", tt.value),
				"%s": fmt.Sprintf("%s", tt.value), "%x": fmt.Sprintf("%x", tt.value), "%d": fmt.Sprintf("%d", tt.value), "%q": fmt.Sprintf("%q", tt.value),
				"%30v": fmt.Sprintf("%30v", tt.value), "a pointer": fmt.Sprint(&tt.value),
			} {
				if got != tt.printed {
					t.Errorf("%s: got %q, want %q", name, got, tt.printed)
				}
			}
			if textErr != nil {
				t.Errorf("MarshalText: %v", textErr)
			}
			if kind := tt.value.LogValue().Kind(); kind != slog.KindString {
				t.Errorf("LogValue: got a %v, want a string", kind)
			}
		})
	}
}

// TestWipe: overwriting the bytes affects every copy of the value, and a wiped value is like one that was never given.
func TestWipe(t *testing.T) {
	original := secret.New("4111111111111111", shortened)
	copied := original
	type holder struct{ secret.Value }
	held := &holder{original}
	clear(secret.Reveal(copied))
	for name, v := range map[string]secret.Value{"original": original, "copy": copied, "copy in a struct": held.Value} {
		t.Run(name, func(t *testing.T) {
			if !v.IsZero() || secret.Reveal(v) != nil || v.String() != "" || secret.IsDigits(v, 1, 19) {
				t.Errorf("%s: got %q, prints as %q", name, secret.Reveal(v), v)
			}
			if !secret.Equal(v, secret.Value{}) {
				t.Errorf("%s: does not equal the zero value", name)
			}
		})
	}
	if other := secret.New("4111111111111111", shortened); string(secret.Reveal(other)) != "4111111111111111" {
		t.Errorf("another value of the same text was wiped too: got %q", secret.Reveal(other))
	}
}

func TestIsDigits(t *testing.T) {
	for _, tt := range []struct {
		text              string
		shortest, longest int
		want              bool
	}{
		{"", 0, 4, false},
		{"123", 3, 4, true},
		{"1234", 3, 4, true},
		{"12", 3, 4, false},
		{"12345", 3, 4, false},
		{"12a", 3, 4, false},
		{"12 ", 3, 4, false},
		{"١٢", 1, 9, false},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if got := secret.IsDigits(secret.New(tt.text, shortened), tt.shortest, tt.longest); got != tt.want {
				t.Errorf("%q, %d to %d: got %t, want %t", tt.text, tt.shortest, tt.longest, got, tt.want)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"", "", true}, {"a", "a", true}, {"a", "b", false}, {"a", "", false}, {"", "a", false}, {"a", "aa", false}, {"ab", "ba", false},
	} {
		t.Run(tt.a, func(t *testing.T) {
			if got := secret.Equal(secret.New(tt.a, shortened), secret.New(tt.b, nil)); got != tt.want {
				t.Errorf("%q and %q: got %t, want %t", tt.a, tt.b, got, tt.want)
			}
		})
	}
}

// TestDecodersAreRefused: no decoder can set a value, and no error quotes the input.
func TestDecodersAreRefused(t *testing.T) {
	const number = "4111111111111111"
	type document struct{ Number secret.Value }
	for name, decode := range map[string]func(v *document) error{
		"UnmarshalText":    func(v *document) error { return v.Number.UnmarshalText([]byte(number)) },
		"UnmarshalJSON":    func(v *document) error { return v.Number.UnmarshalJSON([]byte(number)) },
		"JSON text":        func(v *document) error { return json.Unmarshal([]byte(`{"Number":"`+number+`"}`), v) },
		"JSON number":      func(v *document) error { return json.Unmarshal([]byte(`{"Number":`+number+`}`), v) },
		"JSON of nothing":  func(v *document) error { return json.Unmarshal([]byte(`{"Number":""}`), v) },
		"XML":              func(v *document) error { return xml.Unmarshal([]byte(`<d><Number>`+number+`</Number></d>`), v) },
		"JSON of a struct": func(v *document) error { return json.Unmarshal([]byte(`{"Number":{"a":`+number+`}}`), v) },
	} {
		t.Run(name, func(t *testing.T) {
			kept := document{secret.New("5500", shortened)}
			err := decode(&kept)
			if err == nil || strings.Contains(err.Error(), number) || !strings.Contains(err.Error(), "constructors") {
				t.Errorf("%s: got %v, want an error that names the constructors and not the number", name, err)
			}
			if string(secret.Reveal(kept.Number)) != "5500" {
				t.Errorf("%s: changed the value", name)
			}
		})
	}
}
