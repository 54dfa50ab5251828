package mask_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/mask"
)

func TestCardNumber(t *testing.T) {
	for digits, want := range map[string]string{
		"":                     "***",
		"1234567":              "***",
		"12345678":             "****5678",
		"123456789012":         "********9012",
		"1234567890123":        "123456***0123",
		"4111111111111111":     "411111******1111",
		"1234567890123456789":  "123456*********6789",
		"4111 1111 1111 1111":  "***",
		"411111******1111":     "***",
		"411111111111111a":     "***",
		"\xd9\xa1234567890123": "***",
	} {
		t.Run(digits, func(t *testing.T) {
			if got := mask.CardNumber([]byte(digits)); got != want {
				t.Errorf("%q: got %q, want %q", digits, got, want)
			}
		})
	}
}

func TestDigits(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"no digits", "card refused", "card refused"},
		{"twelve digits", "ref 123456789012.", "ref 123456789012."},
		{"thirteen digits", "1234567890123", "123456***0123"},
		{"sixteen digits", "card 4111111111111111 refused", "card 411111******1111 refused"},
		{"in groups", "4111 1111 1111 1111", "411111******1111"},
		{"with hyphens", "4111-1111-1111-1111", "411111******1111"},
		{"with both", "4-1 1-1 1111 1111 1111", "411111******1111"},
		{"two separators end a run", "4111111  111111111", "4111111  111111111"},
		{"a separator before", " 1234567890123", " 123456***0123"},
		{"a separator behind", "1234567890123 x", "123456***0123 x"},
		{"a hyphen behind", "1234567890123-", "123456***0123-"},
		{"hyphens alone", "1234567890-12-", "1234567890-12-"},
		{"a point ends a run", "1234567.890123", "1234567.890123"},
		{"two numbers", "4111111111111111, 5500000000000004", "411111******1111, 550000******0004"},
		{"a short run and a number", "17 a 4111111111111111", "17 a 411111******1111"},
		{"a number and a short run", "4111111111111111 a 17", "411111******1111 a 17"},
		{"many short runs", "1 a 2 a 345 a 6789 a 012345", "1 a 2 a 345 a 6789 a 012345"},
		{"letters of more bytes", "é4111111111111111é", "é411111******1111é"},
		{"digits of other writing", "١٢٣٤٥٦٧٨٩٠١٢٣", "١٢٣٤٥٦٧٨٩٠١٢٣"},
		{"forty digits", strings.Repeat("1234567890", 4), "123456" + strings.Repeat("*", 30) + "7890"},
		{"bytes that are no text", "\xff4111111111111111\xff", "\xff411111******1111\xff"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := mask.Digits(tt.text); got != tt.want {
				t.Errorf("%s, %q: got %q, want %q", tt.name, tt.text, got, tt.want)
			}
		})
	}
}

func TestCVV(t *testing.T) {
	for text, want := range map[string]string{
		`"cvv":"973"`: `"cvv":"***"`, `{\"cvv\":\"9731\"}`: "***", "%224111111111111111 1": "***", "CVV: 973": "CVV: ***",
		`<input value="973" type=text name="cvv">`: `<input value="***" type=text name="cvv">`, "973 is no valid CVV": "*** is no valid CVV",
		`<input value="973" name="zip"><input name="cvv">`: `<input value="973" name="zip"><input name="cvv">`, "error 973: CVV mismatch": "error 973: CVV mismatch",
		`"cvv_":"973`: `"cvv_":"***`, `"cardCode":"973"`: `"cardCode":"***"`, "card_sec_val=973": "card_sec_val=***", "SecCode: 973": "SecCode: ***",
		"c_v_v=973": "c_v_v=***", "C.V.C.: 973": "C.V.C.: ***",
		"error code 973": "error code 973", "card 973": "card 973", "30 sec 973": "30 sec 973",
		"cvv 97": "cvv 97", "973": "973", "savvy 973": "savvy 973", "": "",
	} {
		if got := mask.Kept(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if got := mask.MayHaveCardData(text); !got && want != text {
			t.Errorf("%q: MayHaveCardData is false", text)
		}
	}
}

func TestJoinDigits(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "card 4539 0000-0000 0001.": "card 4539000000000001.", "6759 0000 0001": "675900000001", "6759 0000 001": "6759 0000 001",
		"4539  0000 0000 0001": "4539  000000000001", "- 4539000000000001 -": "- 4539000000000001 -", "4539.0000.0000.0001": "4539.0000.0000.0001",
	} {
		t.Run(text, func(t *testing.T) {
			if got := mask.JoinDigits(text); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
		})
	}
}

func FuzzDigits(f *testing.F) {
	for _, text := range []string{"4111111111111111", "4111 1111-1111 1111", "ref 123456789012", "4111  1111", "1-2-3-4-5-6-7-8-9-0-1-2-3", "é4111111111111111é"} {
		f.Add(text)
	}
	run := regexp.MustCompile(`[0-9]([ -]?[0-9]){12,}`)
	digits := regexp.MustCompile(`[0-9*]+`)
	f.Fuzz(func(t *testing.T, text string) {
		masked := mask.Digits(text)
		if found := run.FindString(masked); found != "" {
			t.Errorf("%q is masked as %q, which shows %q", text, masked, found)
		}
		if again := mask.Digits(masked); again != masked {
			t.Errorf("%q is masked as %q, and again as %q", text, masked, again)
		}
		if !run.MatchString(text) && masked != text {
			t.Errorf("%q has no card number and is masked as %q", text, masked)
		}
		drop := func(s string) string {
			return strings.NewReplacer(" ", "", "-", "").Replace(digits.ReplaceAllString(s, ""))
		}
		if drop(masked) != drop(text) {
			t.Errorf("%q loses more than digits: %q", text, masked)
		}
	})
}
