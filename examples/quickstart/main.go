// Command quickstart shows every operation of a card payment gateway, from the cardholder's card to the month's orders. It starts a
// sandbox in this process and needs nothing else:
//
//	go run ./examples/quickstart
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	m, err := open()
	if err != nil {
		return err
	}
	for i, step := range []struct {
		name string
		do   func(context.Context) (string, error)
	}{
		{"token order", m.tokenOrder},
		{"token payment", m.payWithToken},
		{"declined payment", m.payDeclined},
		{"lost response", m.loseResponse},
		{"redirect checkout", m.checkout},
		{"direct subscription", m.subscribe},
		{"redirect subscription", m.checkoutSubscription},
		{"refund", m.refund},
		{"month's orders", m.listOrders},
		{"month's refunds", m.listRefunds},
	} {
		outcome, err := step.do(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("%2d  %-22s %s\n", i+1, step.name, outcome)
	}
	return nil
}
