// Command stripe makes one payment intent and lists them.
package main

import (
	"context"
	"log"

	"github.com/stripe/stripe-go/v86"
)

func main() {
	client := stripe.NewClient("sk_test_example")
	ctx := context.Background()
	intent, err := client.V1PaymentIntents.Create(ctx, &stripe.PaymentIntentCreateParams{})
	log.Print(intent, err)
	for intent, err := range client.V1PaymentIntents.List(ctx, &stripe.PaymentIntentListParams{}).All(ctx) {
		log.Print(intent, err)
	}
}
