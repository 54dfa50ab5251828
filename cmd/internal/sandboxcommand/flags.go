package sandboxcommand

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// parse reads the flags. A test checks that there is one for every option of the gateway.
func parse(name string, args []string, out io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // the first line of out is the URL; a wrong flag is an error, and the list of flags would hide it
	verbose := f.Bool("v", false, "print a line for each request and each delivery")
	location := f.String("location", "", "time `zone` of wall-clock texts, for example Asia/Shanghai; UTC+8 if empty")
	currencies := f.String("currencies", "", "currency `codes` of seeded orders, used in turn, such as USD,JPY; USD if empty")
	f.StringVar(&s.addr, "addr", "127.0.0.1:0", "`address` to listen on; port 0 is any free one")
	f.IntVar(&s.seed.N, "seed", 0, "`number` of orders at the start, with a refund for every tenth")
	f.IntVar(&s.days, "days", 90, "`number` of days until now over which the orders of -seed are spread")
	f.IntVar(&s.seed.RefundEvery, "seed-refund-every", 0, "with -seed: a refund for every n-th order; below zero none; 0 means 10")
	f.BoolVar(&s.seed.RefundStates, "seed-refund-states", false, "with -seed: some refunds at 110 and at 112")
	f.BoolVar(&s.seed.Random, "seed-random", false, "with -seed: orders arrive at random, like independent customers")
	optionFlags(f, &s.options)
	searchFlags(f, &s.options.Search)
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		f.SetOutput(out)
		f.Usage()
		return s, err
	case err != nil:
		return s, fmt.Errorf("%w; -h lists the flags", err)
	}
	switch {
	case s.seed.N < 0 || s.days < 1:
		return s, errors.New("-seed must not be negative, and -days at least 1")
	case strings.Trim(s.options.AppID, "0123456789") != "":
		return s, errors.New("-app must have digits only")
	case s.options.MerchantID != "" && s.options.SecretKey == "":
		return s, errors.New("-merchant needs -secret")
	case f.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if *location != "" {
		loc, err := time.LoadLocation(*location)
		if err != nil {
			return s, fmt.Errorf("-location: %w; write a name such as Asia/Shanghai or UTC", err)
		}
		s.options.Location = loc
	}
	if *currencies != "" {
		s.seed.Currencies = strings.Split(*currencies, ",")
		for _, code := range s.seed.Currencies {
			if len(code) != 3 || !ascii.IsUpper(code) {
				return s, fmt.Errorf("-currencies: %q is not a currency code of three capital letters", code)
			}
		}
	}
	if *verbose {
		s.options.Log = out
	}
	return s, nil
}

func optionFlags(f *flag.FlagSet, o *sandbox.Options) {
	f.StringVar(&o.MerchantID, "merchant", "", "require HTTP Basic authentication with this merchant `id` and -secret")
	f.StringVar(&o.SecretKey, "secret", "", "secret `key`: Basic password, and signature of notifications")
	f.StringVar(&o.AppID, "app", "", "the only appId accepted, as `digits`, and that of seeded orders; any, and none, if empty")
	f.StringVar(&o.BaseURL, "base", "", "`URL` before the path of redirectUrl; the one that the caller used if empty")
	f.StringVar(&o.MerchantName, "merchant-name", "", "`name` of the merchant on the hosted pages; the host of callbackUrl if empty")
	f.StringVar(&o.Console.Label, "label", "", "`name` of this sandbox on its dashboard")
	f.TextVar(&o.Console.Access, "control", sandbox.ControlLoopback, "who can use /_sandbox/: loopback, anywhere or off, as `choice`")
	f.IntVar(&o.Console.RequestLog, "log", 0, "`number` of requests and notifications kept for the dashboard; 0 means 200, below zero none")

	f.TextVar(&o.Duplicates, "duplicates", sandbox.DuplicatesRefused,
		"response to a repeated transactionId or orderId: refused, declined, executed or perOrder, as `choice`")
	f.TextVar(&o.RefundDuplicates, "refund-duplicates", sandbox.RefundDuplicatesRefused,
		"response to a repeated refundTransactionId: refused, repeated or executed, as `choice`")
	f.DurationVar(&o.SettleAfter, "settle", 0, "how long a token payment stays at 102; below zero until it is settled")
	f.DurationVar(&o.RefundSettleAfter, "refund-settle", 0, "how long a refund stays at 110; below zero until it is settled")
	f.BoolVar(&o.Cards.DeclineLater, "decline-later", false, "a token payment with a declined card is at 102 first")
	f.BoolVar(&o.Cards.TokenOrderUsesCard, "token-order-uses-card", false, "the card also decides the outcome of a token order")
	f.BoolVar(&o.Cards.TokenOrderCharges, "token-order-charges", false, "a token order charges its amount")
	f.BoolVar(&o.Cards.SecureForEveryCard, "secure-every-card", false, "secure requires 3D for every card, not only for those that would be approved")
	f.BoolVar(&o.Cards.HostedRetry, "retry", false, "the hosted page accepts another card after a decline")
	f.BoolVar(&o.RenewalsHaveNewID, "renewals-have-new-id", false, "later charges of a subscription have a transactionId of the gateway's own")
	f.BoolVar(&o.PublishedLimits, "published-limits", false, "also check limits that are only published: lengths in addresses, products, browser, and more")
	f.BoolVar(&o.Responses.RefundTransactionIDInRows, "refund-transaction-id", false,
		"rows of refund queries have refundTransactionId instead of merchantRefundId")
	f.BoolVar(&o.Responses.Is3DBoolean, "is3d-boolean", false, "is3d is a JSON boolean instead of a string")
	f.BoolVar(&o.Responses.NoRedirectURLInRows, "no-redirect-url-in-rows", false, "rows of queries have no redirectUrl")
	f.BoolVar(&o.Responses.HTTPStatusFollowsCode, "status", false, "send refusals with the HTTP status of their code instead of 200")
	f.IntVar(&o.MaxPageSize, "max-page", 0, "largest `pageSize`; 0 means 999")
	f.Uint64Var(&o.Seed, "random", 0, "seed `number` of everything that looks random")

	f.BoolVar(&o.NoNotifications, "no-notifications", false, "send no notifications")
	f.DurationVar(&o.Notifications.Delay, "notification-delay", 0, "how long a notification waits before its first delivery")
	f.Float64Var(&o.Notifications.Scale, "scale", 1, "`factor` for the pauses between repeated notifications")
	f.StringVar(&o.Notifications.TokenMember, "token-member", "token", "`name` of the notification member that holds a token")
}

func searchFlags(f *flag.FlagSet, b *sandbox.Search) {
	f.BoolVar(&b.StartExclusive, "start-exclusive", false, "a search leaves out rows in the second of startDate")
	f.BoolVar(&b.EndExclusive, "end-exclusive", false, "a search leaves out rows in the second of endingDate")
	f.BoolVar(&b.WideRangeWithID, "wide-range-with-id", false, "a search by id may have any range")
	f.BoolVar(&b.OldestFirst, "oldest-first", false, "a search returns the oldest row first")
	f.BoolVar(&b.UnstableTies, "unstable-ties", false, "the order of rows within one second changes with each request")
	f.BoolVar(&b.RefuseLargePages, "refuse-large-pages", false, "refuse a pageSize above -max-page instead of reducing it")
	f.DurationVar(&b.Lag, "lag", 0, "longest time until a new row is found")
	f.DurationVar(&b.Latency, "latency", 0, "how long each query takes")
	f.DurationVar(&b.MaxRange, "max-range", 0, "refuse a longer range; 0 means one month")
	f.DurationVar(&b.BusyRetryAfter, "busy-retry-after", 0, "with -busy-every: the Retry-After header")
	f.IntVar(&b.LagOneIn, "lag-one-in", 0, "with -lag: only one row in so many is late")
	f.IntVar(&b.Arrive, "arrive", 0, "new rows just before each search")
	f.IntVar(&b.LeakRows, "leak-rows", 0, "rows of other transactions in a search by transactionId")
	f.IntVar(&b.ShortEvery, "short-every", 0, "in every n-th search half of the page is missing")
	f.IntVar(&b.EmptyEvery, "empty-every", 0, "in every n-th search the page is empty")
	f.IntVar(&b.RepeatEvery, "repeat-every", 0, "in every n-th search the previous page is returned again")
	f.IntVar(&b.OutsideEvery, "outside-every", 0, "in every n-th search a row is outside the range")
	f.IntVar(&b.BusyEvery, "busy-every", 0, "every n-th search is refused with HTTP 429")
}

// settings are the values of the flags.
type settings struct {
	addr    string
	options sandbox.Options
	seed    sandbox.SeedOptions // without its times
	days    int
}
