package openapi_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/openapi"
)

// TestKeptDescription: the description in the repository is up to date.
func TestKeptDescription(t *testing.T) {
	want, kept := generate(t), read(t, "../../openapi.json")
	if !bytes.Equal(want, kept) {
		t.Error("sandbox/openapi.json is not up to date; run go generate ./sandbox")
	}
}

// TestEveryPartHasASource: operations, parameters, responses and objects have an x-source.
func TestEveryPartHasASource(t *testing.T) {
	var document any
	if err := json.Unmarshal(generate(t), &document); err != nil {
		t.Fatal(err)
	}
	var checked int
	var walk func(path string, node any)
	walk = func(path string, node any) {
		switch node := node.(type) {
		case map[string]any:
			_, isOperation := node["operationId"]
			_, isParameter := node["in"]
			_, hasProperties := node["properties"]
			if isOperation || isParameter || hasProperties && node["type"] == "object" {
				checked++
				if source, _ := node["x-source"].(string); source == "" {
					t.Errorf("%s: got no x-source", path)
				}
			}
			for name, value := range node {
				walk(path+"/"+name, value)
			}
		case []any:
			for _, value := range node {
				walk(path+"/", value)
			}
		}
	}
	walk("", document)
	if checked < 40 {
		t.Errorf("got %d parts, want at least 40", checked)
	}
}

func TestGenerateRefusesWhatIsNoTable(t *testing.T) {
	if got, err := openapi.Generate([]byte("{")); err == nil {
		t.Errorf("got %d bytes, want an error", len(got))
	}
}

func generate(t *testing.T) []byte {
	t.Helper()
	description, err := openapi.Generate(read(t, "../../../testdata/interface.json"))
	if err != nil {
		t.Fatal(err)
	}
	return description
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
