// Command shop is a small shop with card payments: cart, hosted checkout, saved cards, 3D authentication, a weekly
// subscription, refunds, and orders whose state always follows the gateway's. Without flags it starts a sandbox gateway in
// its own process and needs nothing else:
//
//	go run ./examples/shop
//
// With flags, or the environment variables that -h lists, it takes payments through a real gateway.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

// settings come from flags or the environment.
type settings struct {
	listen, database, keyFile             string
	url                                   string // of the shop, as browsers and the gateway see it
	gateway, appID, merchantID, secretKey string
	clientIPHeader                        string
	typedCards, testPayments, staff       bool
	restored                              time.Time // when the backup was made that the database was restored from; zero: it was not

	settleEvery        time.Duration // zero means the default of package payments
	refundsEvery       time.Duration // the same
	attemptTimeout     time.Duration // zero means the constant of that name
	tokenLate          time.Duration // the same
	hostedPageLifetime time.Duration // zero means the client's default
	httpClient         *http.Client  // nil means the client's default
	log                *slog.Logger
}

func main() {
	s, err := parse(os.Args[1:], os.Getenv, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(2)
	}
	s.log = slog.New(slog.NewTextHandler(os.Stderr, nil))

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// parse reads the settings. Those of the gateway have the names that the command-line tool uses. There is no flag for the secret
// key, and no password in a flag, because every user of the machine can read flags.
func parse(args []string, getenv func(string) string, out io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("shop", flag.ContinueOnError)
	flags.SetOutput(out)
	secretFile := ""
	variables := map[*string]string{&s.secretKey: "CARDGATEWAY_SECRET"}
	setting := func(target *string, name, env, usage string) {
		flags.StringVar(target, name, "", usage+" (or $"+env+")")
		variables[target] = env // not the flag's default, because -h prints that, and the database's URL can have a password
	}
	setting(&s.gateway, "base-url", "CARDGATEWAY_BASE_URL", "base URL of a real gateway; empty starts a sandbox, and no id or key may be set then")
	setting(&s.appID, "app-id", "CARDGATEWAY_APP_ID", "the app's id")
	setting(&s.merchantID, "merchant-id", "CARDGATEWAY_MERCHANT_ID", "merchant id for HTTP Basic; empty sends no credentials")
	setting(&secretFile, "secret-file", "CARDGATEWAY_SECRET_FILE",
		"file that contains only the secret key, for HTTP Basic and for checking notifications (or the key in $CARDGATEWAY_SECRET)")
	setting(&s.listen, "listen", "SHOP_LISTEN", "address to listen on; default a free port of 127.0.0.1")
	setting(&s.url, "url", "SHOP_URL", "URL under which browsers and the gateway reach the shop; default http:// and the address")
	setting(&s.database, "db", "SHOP_DB",
		"SQLite file, :memory:, or postgres:// URL, with a password only in the variable; default :memory: with the sandbox, shop.db otherwise")
	setting(&s.keyFile, "key-file", "SHOP_KEY_FILE",
		"file with the key that stored tokens are encrypted with, made if absent; default shop.key, none with :memory:")
	setting(&s.clientIPHeader, "client-ip-header", "SHOP_CLIENT_IP_HEADER",
		"header in which a proxy in front gives the customer's address; empty means there is no proxy")
	flags.BoolVar(&s.typedCards, "typed-cards", false, "let customers type a card into the shop; always on with the sandbox")
	flags.BoolVar(&s.testPayments, "test-payments", false, "take payments that the gateway marks as tests for paid, on a test system; always on with the sandbox")
	flags.BoolVar(&s.staff, "staff", false, "serve /staff, where orders are refunded: a proxy must let only the staff in; always on with the sandbox")
	flags.Func("restored", "only complete a database that was restored from a backup of this time, such as 2026-10-05T08:00:00Z", func(text string) (err error) {
		s.restored, err = time.Parse(time.RFC3339, text)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("%q belongs to no flag", flags.Arg(0))
	}
	if u, err := url.Parse(s.database); err == nil {
		if _, set := u.User.Password(); set {
			return s, errors.New("-db has a password, which every user of the machine can read: set SHOP_DB, PGPASSWORD or ~/.pgpass")
		}
	}
	for target, env := range variables {
		*target = cmp.Or(*target, getenv(env))
	}
	if secretFile != "" {
		if s.secretKey != "" {
			return s, errors.New("the secret key is set twice: in CARDGATEWAY_SECRET, and with -secret-file")
		}
		text, err := os.ReadFile(secretFile)
		if err != nil {
			return s, err
		}
		if s.secretKey = strings.TrimRight(string(text), "\r\n"); s.secretKey == "" {
			return s, fmt.Errorf("%s is empty", secretFile)
		}
	}
	return s, s.check()
}

// check rejects contradictory settings. Above all, a shop must not run with the sandbox because the name of a variable was
// misspelled.
func (s settings) check() error {
	switch {
	case s.gateway == "" && cmp.Or(s.appID, s.merchantID, s.secretKey) != "":
		return errors.New("-base-url is missing; the sandbox takes no app id, merchant id or secret key")
	case s.merchantID != "" && s.secretKey == "":
		return errors.New("-merchant-id needs CARDGATEWAY_SECRET or -secret-file")
	}
	return nil
}

// run runs the program.
func run(ctx context.Context, s settings) (err error) {
	var demo *Demo
	if s.gateway == "" {
		if demo, err = StartDemo(ctx, forVisitors()); err != nil {
			return err
		}
		defer demo.Server.Close()
		s = demo.settings(s)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cmp.Or(s.listen, "127.0.0.1:0"))
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // if Serve has not closed it
	s.url = strings.TrimSuffix(cmp.Or(s.url, "http://"+listener.Addr().String()), "/")
	s.database = cmp.Or(s.database, "shop.db")
	if s.keyFile == "" && s.database != ":memory:" {
		s.keyFile = "shop.key"
	}
	shop, err := NewShop(ctx, s, demo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shop.Close()) }()
	if !s.restored.IsZero() {
		return shop.payments.Restore(ctx, s.restored)
	}
	fmt.Printf("The shop is open at %s\n", s.url)
	if demo != nil {
		fmt.Println("Its gateway is a sandbox: no card is charged.")
	}
	return shop.serve(ctx, listener)
}

// The longest wait of a request is for a payment, which is never aborted.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = payments.PayTimeout + 15*time.Second
	idleTimeout  = 60 * time.Second
	maxHeader    = 32 << 10
)

// serve serves requests and resolves open payments until ctx ends. Requests in progress at that time, and their payments,
// are completed.
func (s *Shop) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running.Go(func() { s.payments.Run(ctx) })
	running.Go(func() {
		<-ctx.Done()
		patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
		defer cancel()
		if err := server.Shutdown(patience); err != nil {
			s.log.Error("stopping", "error", err)
		}
	})
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
