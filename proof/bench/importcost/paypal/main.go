// Command paypal makes one order and lists transactions.
package main

import (
	"context"
	"log"

	"github.com/plutov/paypal/v4"
)

func main() {
	client, err := paypal.NewClient("id", "secret", paypal.APIBaseSandBox)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	order, err := client.CreateOrder(ctx, paypal.OrderIntentCapture, nil, nil, nil)
	log.Print(order, err)
	list, err := client.ListTransactions(ctx, &paypal.TransactionSearchRequest{})
	log.Print(list, err)
}
