package sandbox

import (
	_ "embed"
	"net/http"
)

//go:generate go run ./internal/openapi/write ../testdata/interface.json openapi.json

// openAPI is the description of the gateway. Package internal/openapi generates it from the interface table.
//
//go:embed openapi.json
var openAPI []byte

// openAPIPath is the path of the description.
const openAPIPath = controlPath + "openapi.json"

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(openAPI)
}
