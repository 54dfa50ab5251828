// Command quickstart shows every operation of a card payment gateway, from the cardholder's card to the month's
// orders. Without flags it starts a sandbox in this process and needs nothing else:
//
//	go run ./examples/quickstart
//
// With the flags, or the environment variables that -h names, and the secret key in CARDGATEWAY_SECRET, it talks to a real
// gateway. The gateway must be able to reach -notify for the steps that need a token; a person then plays the cardholder
// in a browser.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var s settings
	variables := map[*string]string{&s.secretKey: "CARDGATEWAY_SECRET"} // without a flag: other users of the machine can read flags
	setting := func(target *string, name, env, usage string) {
		flag.StringVar(target, name, "", usage+" (or $"+env+")")
		variables[target] = env
	}
	setting(&s.baseURL, "base-url", "CARDGATEWAY_BASE_URL", "base URL of a real gateway; empty starts a sandbox")
	setting(&s.appID, "app-id", "CARDGATEWAY_APP_ID", "the app's id")
	setting(&s.merchantID, "merchant-id", "CARDGATEWAY_MERCHANT_ID",
		"merchant id for HTTP Basic, with the secret key in $CARDGATEWAY_SECRET; empty sends no credentials")
	setting(&s.listen, "listen", "CARDGATEWAY_LISTEN", "address to receive notifications at; default 127.0.0.1:0")
	setting(&s.notify, "notify", "CARDGATEWAY_NOTIFY", "URL under which the gateway reaches that address; default http:// and the address")
	flag.BoolVar(&s.testPayments, "test-payments", false, "the gateway is a test system: what it marks as a test is paid; always on with the sandbox")
	flag.Parse()
	for target, env := range variables {
		*target = cmp.Or(*target, os.Getenv(env))
	}
	s.appID = cmp.Or(s.appID, "123456")
	s.listen = cmp.Or(s.listen, "127.0.0.1:0")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// settings come from flags or the environment.
type settings struct {
	baseURL, appID, merchantID, secretKey, listen, notify string
	testPayments                                          bool
}

func run(ctx context.Context, s settings) error {
	m, err := open(s)
	if err != nil {
		return err
	}
	defer m.close()
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
