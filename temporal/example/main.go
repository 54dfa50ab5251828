// Command example pays orders with Temporal. Start a development server first: temporal server start-dev
//
// The gateway is the sandbox. The worker, the shop and the gateway are one process here; with a store in a database they are
// several, on several machines.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/cardgateway/cardgateway-go/temporal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, cmp.Or(os.Getenv("TEMPORAL_ADDRESS"), client.DefaultHostPort)); err != nil {
		log.Fatal(err)
	}
}

// run pays three orders: one is approved, one is declined, and of one the response is lost.
func run(ctx context.Context, server string) error {
	gateway, err := sandbox.Start(sandbox.Options{NoNotifications: true})
	if err != nil {
		return err
	}
	defer gateway.Close()
	c, err := client.Dial(client.Options{HostPort: server, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		return err
	}
	defer c.Close()

	gatewayClient, err := cardgateway.New(cardgateway.Config{BaseURL: gateway.URL, AppID: "1", TestPayments: true})
	if err != nil {
		return err
	}
	// The token is in the merchant's own database. Temporal gets the transactionId only.
	run := time.Now().Format("150405")
	approved, declined, lost := "approved-"+run, "declined-"+run, "lost-"+run
	tokens := map[string]string{
		approved: gateway.NewToken(sandbox.Approved), declined: gateway.NewToken(sandbox.Declined), lost: gateway.NewToken(sandbox.Approved),
	}
	gateway.Inject(sandbox.Fault{TransactionID: lost, Operation: sandbox.OpTokenPayment, Reply: sandbox.ReplyClose})

	shop := temporal.Worker{TaskQueue: paymentQueue, Payments: &temporal.Payments{
		Client: gatewayClient, Store: journal.NewMemoryStore(), // several workers share a database: package journal/sqlstore
		Submit: func(ctx context.Context, m temporal.Methods, id journal.ID) error {
			_, err := m.TokenPayment(ctx, cardgateway.NewToken(tokens[id.Text]), cardgateway.TokenPaymentRequest{
				TransactionID: id.Text, Currency: "EUR", Amount: decimal.NewFromInt(20), TransactionIP: "203.0.113.7",
				CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/notify",
				ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}},
			})
			return err
		},
		Report: func(context.Context, journal.Entry) error {
			return nil // a shop stores the entry's Outcome in its own database
		},
	}}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- shop.Run(ctx, c) }()
	own := worker.New(c, orderQueue, worker.Options{})
	own.RegisterWorkflow(order)
	own.RegisterActivity(sendReceipt)
	own.RegisterActivity(ship)
	if err := own.Start(); err != nil {
		return err
	}
	defer own.Stop()
	for _, id := range []string{approved, declined, lost} {
		running, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "order/" + id, TaskQueue: orderQueue}, order, id)
		if err != nil {
			return err
		}
		var got string
		if err := running.Get(ctx, &got); err != nil {
			return err
		}
		fmt.Printf("%s: %s, charged %d times\n", strings.TrimSuffix(id, "-"+run), got, gateway.Executed(id))
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
