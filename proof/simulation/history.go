package simulation

import (
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// A History is everything that happens in a simulated world. The zero value of each field is its plain value, to which
// Shrink sets what does not matter.
type History struct {
	Seed   uint64 // of what looks random in the code under test and in the sandbox
	World  World
	Things []Thing
	Steps  []Step
}

// World is what exists before the first step.
type World struct {
	Store string // memory (or empty), sqlite, postgres: shared by all shops
	Shops []Shop // at least one
}

// Shop is one merchant: a gateway of its own, an appId, and processes on the store.
type Shop struct {
	AppID         string // empty: 7
	Base          string // the gateway's address, empty: https://gw.test
	Processes     int    // zero: one
	Settings      Settings
	Gateway       Gateway
	Notifications Notifications
	Archive       Archive
	// SharesCredentials means that searches also return the rows of the other shops, with their appId; the client checks it.
	SharesCredentials bool
	// Replicas means that the store has leases, so that each process may call Run.
	Replicas bool
}

// Settings is how a process is configured. A restart can change it.
type Settings struct {
	BaseURL            string // empty: the shop's Base; otherwise it, spelled differently, or a new one
	Gateway            string // journal.Options.Gateway
	AbsentAfter        time.Duration
	HostedPageLifetime time.Duration // of the client
	Wait               time.Duration
	WaitElsewhere      time.Duration
	Parallel           int // zero: one
	MaxAttempts        int
	ClockAhead         time.Duration // of the process's clock; negative if it is late
}

// Gateway is how a shop's gateway behaves.
type Gateway struct {
	Duplicates        sandbox.Duplicates
	RefundDuplicates  sandbox.RefundDuplicates
	SettleAfter       time.Duration // of token payments
	RefundSettleAfter time.Duration
	HostedRetry       bool
	DeclineLater      bool
	RenewalsHaveNewID bool // of later charges of a subscription
	StatusIsCode      bool
	RefundIDPublished bool // rows of refunds name the merchant's id refundTransactionId
	ZoneHours         int  // of its wall clock, east of UTC
	PageSize          int
	sandbox.Search

	// Members that are left out of the responses to payments and refunds, or stated otherwise.
	NoIDs        bool   // uniqueId, refundUniqueId
	NoAmounts    bool   // amount and currency
	BareFailures bool   // failures have a code and a message only
	StatesApp    string // another appId, with a client that does not check it
	Echoes       bool   // repeats secrets of the request in texts
}

// Thing is a payment or a refund that a customer wants.
type Thing struct {
	Shop   int
	Op     string // the client's method; empty: CreateSubscription
	ID     string // empty: made of its index
	Card   sandbox.Outcome
	Amount string // empty: 10.00
	Of     int    // of a refund: the payment's index
}

// Step is one thing that happens, After the one before. The fields from Post on apply to calls of a process.
type Step struct {
	After   time.Duration
	Do      string // see the actors
	Shop    int    // of steps that are not about a thing
	Process int
	Thing   int
	N       int
	Delay   time.Duration
	Text    string
	With    int // so many of the following steps happen at the same time

	Post       string // fate of the requests that move money; Delay is its argument
	PostTimes  int    // of the first so many; zero: of all
	Query      string // fate of the queries
	QueryTimes int
	DieAt      int    // the process is killed at its n-th contact with the outside; zero: never
	StoreAt    int    // the n-th call of the store fails
	Store      string // how: before, after, hang, late (after it hung), outage (from then on)
	Books      string // what the merchant does with what is told: "" stores it, fail, crash
	Ack        bool   // and acknowledges what is final
	Timeout    time.Duration
	Refuse     string // what refuses: authenticate, limiter, dedupe Claim, dedupe Done
	Walk       Walk
	Settings   *Settings // of a restart; nil: as before
	Seed       uint64    // of the order in which goroutines that could work do
}
