package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// The sandbox's orders: so many, in the months before now.
const (
	demoOrders = 6000
	demoMonths = 3
)

// runDemo reconciles with a gateway in this process. Its list is made out of what was copied, so that what the
// comparison finds is what was put in.
func runDemo(ctx context.Context, s settings) (err error) {
	now := time.Now()
	from := now.AddDate(0, -demoMonths, 0)
	gateway, err := sandbox.Start(sandbox.Options{})
	if err != nil {
		return err
	}
	defer gateway.Close()
	gateway.Gateway.Seed(demoOrders, from, now)
	fmt.Fprintln(s.out, "a sandbox in this process: no account, no money")

	client, err := cardgateway.New(cardgateway.Config{BaseURL: gateway.URL, AppID: "123456"})
	if err != nil {
		return err
	}
	books, err := OpenBooks(ctx, ":memory:", "the sandbox", cardgateway.DefaultLocation())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, books.Close()) }()
	if err := s.copy(ctx, client, books, from); err != nil {
		return err
	}
	list, err := demoList(ctx, books)
	if err != nil {
		return err
	}
	if err := s.compare(ctx, books, list); !errors.Is(err, errDiffer) {
		return err
	}
	return nil // it was meant to
}

// demoList is a list of all that was paid, but for three mistakes: the first payment is missing, the second has another
// amount, and there is one more, of which the gateway knows nothing.
func demoList(ctx context.Context, books *Books) (io.Reader, error) {
	var list strings.Builder
	list.WriteString("transaction_id,amount,currency\n")
	n := 0
	err := books.each(ctx, func(scan func(...any) error) error {
		var id, amount, currency string
		err := scan(&id, &amount, &currency)
		switch n++; n {
		case 1:
			return err
		case 2:
			amount = "1" + amount
		}
		fmt.Fprintf(&list, "%s,%s,%s\n", id, amount, currency)
		return err
	}, `SELECT transaction_id, amount, currency FROM orders WHERE state = 'approved' ORDER BY happened`)
	list.WriteString("cash-payment-1,12.50,USD\n")
	return strings.NewReader(list.String()), err
}
