package cardgateway_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

func newCipher(t testing.TB, keys ...byte) *cardgateway.TokenCipher {
	t.Helper()
	var all [][]byte
	for _, k := range keys {
		all = append(all, cipherKey(k))
	}
	c, err := cardgateway.NewTokenCipher(all[0], all[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func cipherKey(k byte) []byte { return bytes.Repeat([]byte{k}, 32) }

func encrypted(t testing.TB, c *cardgateway.TokenCipher, token, id string) string {
	t.Helper()
	text, err := c.Encrypt(cardgateway.NewToken(token), id)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// storedToken was written by version 0.1.0. It must always be readable.
const storedToken = "v1.XM2kIKFA.4vqMHuFhOXJ2GMoIh6KCM0967pa2vRGuRxGLGW03dG0mUlysoYw"

func TestTokenCipher(t *testing.T) {
	const token = "tok_8f2/ü+ "
	text := encrypted(t, newCipher(t, 1), token, "C-1")
	for _, tt := range []struct {
		name, text, id string
		cipher         *cardgateway.TokenCipher
		want, err      string
	}{
		{"the same", text, "C-1", newCipher(t, 1), token, ""},
		{"an older key", text, "C-1", newCipher(t, 3, 2, 1), token, ""},
		{"a key twice", text, "C-1", newCipher(t, 1, 1), token, ""},
		{"stored earlier", storedToken, "C-1", newCipher(t, 1), "tok-stored", ""},
		{"another id", text, "C-2", newCipher(t, 1), "", "belongs to another id"},
		{"no id", text, "", newCipher(t, 1), "", "belongs to another id"},
		{"another key", text, "C-1", newCipher(t, 2), "", "a key that NewTokenCipher was not given"},
		{"the id of another key", encrypted(t, newCipher(t, 2), token, "C-1")[:11] + text[11:], "C-1", newCipher(t, 2, 1), "", "belongs to another id"},
		{"no cipher", text, "C-1", nil, "", "a key that NewTokenCipher was not given"},
		{"a zero cipher", text, "C-1", new(cardgateway.TokenCipher), "", "a key that NewTokenCipher was not given"},
		{"no text", "", "C-1", newCipher(t, 1), "", "not a text of Encrypt"},
		{"the token itself", "tok_8f2", "C-1", newCipher(t, 1), "", "not a text of Encrypt"},
		{"another version", "v2" + text[2:], "C-1", newCipher(t, 1), "", "not a text of Encrypt"},
		{"cut at the key", text[:8], "C-1", newCipher(t, 1), "", "not a text of Encrypt"},
		{"nothing after the key", text[:12], "C-1", newCipher(t, 1), "", "belongs to another id"},
		{"cut by a column", text[:len(text)-2], "C-1", newCipher(t, 1), "", "belongs to another id"},
		{"not base64", text[:len(text)-1] + "!", "C-1", newCipher(t, 1), "", "not a text of Encrypt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.cipher.Decrypt(tt.text, tt.id)
			if got.Reveal() != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %q, %v, want %q and an error with %q", got.Reveal(), err, tt.want, tt.err)
			}
			if err != nil && (len(clienttest.Leaked(err.Error(), "tok_8f2")) > 0 || tt.text != "" && strings.Contains(err.Error(), tt.text)) {
				t.Errorf("the error quotes: %v", err)
			}
		})
	}
}

// TestTokenCipherText: the text has the documented form, is another one each time, and a changed one is never accepted.
func TestTokenCipherText(t *testing.T) {
	c := newCipher(t, 1)
	const token = "tok-secret-0123456789"
	text, again := encrypted(t, c, token, "C-1"), encrypted(t, c, token, "C-1")
	if text == again || text[:11] != again[:11] || len(text) != 12+(len(token)+28)*4/3+1 {
		t.Errorf("got %s and %s", text, again)
	}
	if other := encrypted(t, newCipher(t, 2, 1), token, "C-1"); other[:11] == text[:11] {
		t.Errorf("the new key is not used: %s", other)
	}
	if leaked := clienttest.Leaked(text, token, "tok-secret"); len(leaked) > 0 {
		t.Errorf("the text has %v", leaked)
	}
	for i := range text {
		for _, b := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_." {
			changed := text[:i] + string(b) + text[i+1:]
			if _, err := c.Decrypt(changed, "C-1"); (err == nil) != (changed == text) {
				t.Errorf("%s: got %v", changed, err)
			}
		}
	}
}

func TestTokenCipherProblems(t *testing.T) {
	for _, tt := range []struct {
		name string
		call func() error
		want []string
	}{
		{"no key", func() error { _, err := cardgateway.NewTokenCipher(nil); return err }, []string{"key length"}},
		{"short keys", func() error {
			_, err := cardgateway.NewTokenCipher(cipherKey(1)[:31], cipherKey(1), []byte("short"))
			return err
		},
			[]string{"key length", "key length"}},
		{"no token", func() error { _, err := newCipher(t, 1).Encrypt(cardgateway.Token{}, "C-1"); return err }, []string{"token required"}},
		{"no id", func() error { _, err := newCipher(t, 1).Encrypt(cardgateway.NewToken("tok"), ""); return err }, []string{"id required"}},
		{"no cipher", func() error {
			_, err := (*cardgateway.TokenCipher)(nil).Encrypt(cardgateway.NewToken("tok"), "C-1")
			return err
		}, []string{"cipher required"}},
		{"a zero cipher", func() error {
			_, err := new(cardgateway.TokenCipher).Encrypt(cardgateway.NewToken("tok"), "C-1")
			return err
		}, []string{"cipher required"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.call()
			if diff := cmp.Diff(tt.want, clienttest.Problems(err)); diff != "" || !errors.Is(err, cardgateway.ErrInvalidRequest) {
				t.Errorf("got %v; problems (-want +got):\n%s", err, diff)
			}
		})
	}
}

// FuzzTokenCipher: Decrypt accepts no text that Encrypt did not return.
func FuzzTokenCipher(f *testing.F) {
	c := newCipher(f, 1)
	text := encrypted(f, c, "tok", "C-1")
	f.Add(text, "C-1")
	f.Add(text, "C-2")
	f.Add("v1.", "")
	f.Fuzz(func(t *testing.T, changed, id string) {
		if got, err := c.Decrypt(changed, id); err == nil && (id != "C-1" || got.Reveal() != "tok") {
			t.Errorf("%q of %q was accepted", changed, id)
		}
	})
}

func ExampleTokenCipher() {
	key := bytes.Repeat([]byte{1}, 32) // 32 random bytes, from a file or a key service
	tokens, err := cardgateway.NewTokenCipher(key)
	if err != nil {
		fmt.Println(err)
		return
	}
	token := cardgateway.NewToken("tok_8f2") // from a notification
	text, err := tokens.Encrypt(token, "C-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	db := map[string]string{"C-1": text}

	again, err := tokens.Decrypt(db["C-1"], "C-1")
	fmt.Println(again, again.Equal(token), err)
	_, err = tokens.Decrypt(db["C-1"], "C-2")
	fmt.Println(err)
	// Output:
	// *** true <nil>
	// cardgateway: TokenCipher.Decrypt: the text belongs to another id, or has been changed
}
