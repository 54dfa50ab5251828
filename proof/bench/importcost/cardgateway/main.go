// Command cardgateway makes one payment and one walk.
package main

import (
	"context"
	"log"

	"github.com/cardgateway/cardgateway-go"
)

func main() {
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "http://127.0.0.1:1", AppID: "1"})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	t, err := client.TokenPayment(ctx, cardgateway.NewToken("token"), cardgateway.TokenPaymentRequest{})
	log.Print(t, err)
	for t, err := range client.Orders(ctx, cardgateway.OrderQuery{}) {
		log.Print(t, err)
	}
}
