package clienttest

import (
	"net/http"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Seeded is a gateway with 5,000 orders in the first quarter of 2024.
func Seeded() (*cardgateway.Client, *sandbox.Gateway) {
	gateway := sandbox.New(sandbox.Options{})
	gateway.Seed(5000, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 4, 1, 0, 0, 0, 0, time.UTC))
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.example", AppID: "123456", TestPayments: true, HTTPClient: &http.Client{Transport: gateway.RoundTripper()},
	})
	if err != nil {
		panic(err)
	}
	return client, gateway
}
