package leaks_test

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
)

// TestTokensAreNotStored: an operation that would store the mask instead of the token fails at once; logging a token
// works.
func TestTokensAreNotStored(t *testing.T) {
	token := cardgateway.NewToken("tok-8f2a")
	for name, v := range map[string]any{
		"alone": token, "a pointer": &token, "in a struct": struct{ Token cardgateway.Token }{token}, "in a list": []cardgateway.Token{token},
	} {
		t.Run(name, func(t *testing.T) {
			if text, err := json.Marshal(v); err == nil || !strings.Contains(err.Error(), "Reveal") || strings.Contains(err.Error(), "8f2a") {
				t.Errorf("%s: got %s, %v, want an error that names Reveal", name, text, err)
			}
		})
	}
	if _, err := driver.DefaultParameterConverter.ConvertValue(token); err == nil || !strings.Contains(err.Error(), "Reveal") {
		t.Errorf("as an argument of a database: got %v", err)
	}
	none := struct{ Token cardgateway.Token }{}
	if text, err := json.Marshal(none); err != nil || string(text) != `{"Token":""}` {
		t.Errorf("no token: got %s, %v", text, err)
	}
	if v, err := driver.DefaultParameterConverter.ConvertValue(none.Token); err != nil || v != nil {
		t.Errorf("no token as an argument: got %v, %v", v, err)
	}
	var line bytes.Buffer
	slog.New(slog.NewJSONHandler(&line, nil)).Info("stored", "token", token)
	slog.New(slog.NewTextHandler(&line, nil)).Info("stored", "token", token)
	fmt.Fprint(&line, token)
	if got := strings.Count(line.String(), "***"); got != 3 || strings.Contains(line.String(), "8f2a") || strings.Contains(line.String(), "ERROR") {
		t.Errorf("logged as %s", line.String())
	}
}
