// Command nethttp makes a request by hand.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
)

func main() {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://127.0.0.1:1/", nil)
	if err != nil {
		log.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct{ Code int }
	log.Print(json.NewDecoder(resp.Body).Decode(&answer))
}
