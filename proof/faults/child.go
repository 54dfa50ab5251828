package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Some tests need another process. It runs the same program; the environment says what to do.

const childEnv = "CARDGATEWAY_FAULTS_CHILD"

// task is the work of another process, which writes a line for each thing that it does.
type task struct {
	Role     string // a key of roles
	Store    string // see OpenStore
	URL      string
	Tokens   map[sandbox.Outcome]string
	Patience time.Duration
	Seed     uint64
	Payments int
	Next     int // index of the first payment that has not been made

	// Of a replica.
	Replicas int
	Pause    time.Duration // after a payment of each of its callers
}

var roles = map[string]func(*task) error{"shop": runShop, "last": runLast, "instant": runInstant, "replica": runReplica}

// Child runs the task of a process that was started as a child, and then does not return. Call it first.
func Child() {
	text := os.Getenv(childEnv)
	if text == "" {
		return
	}
	var t task
	err := json.Unmarshal([]byte(text), &t)
	if err == nil {
		err = roles[t.Role](&t)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", t.Role, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a started process and the lines that it writes.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *task) (*child, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &child{cmd, bufio.NewScanner(out)}, nil
}

// next returns the process's next line, in two parts. Lines written before it was killed are returned; there are no
// incomplete lines, because each line is one write to a pipe.
func (c *child) next() (word, rest string, ok bool) {
	if !c.lines.Scan() {
		return "", "", false
	}
	word, rest, _ = strings.Cut(c.lines.Text(), " ")
	return word, rest, true
}

// open returns the store and a journal over it, as the process has them.
func (t *task) open() (*sqlstore.Store, *cardgateway.Client, func() error, error) {
	store, done, err := OpenStore(t.Store)
	if err != nil {
		return nil, nil, nil, err
	}
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: t.URL, AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: &http.Transport{}}, AttemptTimeout: t.Patience,
		Retry: cardgateway.RetryPolicy{MinWait: 2 * time.Millisecond, MaxWait: 20 * time.Millisecond},
	})
	return store, client, done, err
}

// runShop recovers what an earlier process left open, and continues to pay, until it is killed or has paid everything.
func runShop(t *task) error {
	store, client, done, err := t.open()
	if err != nil {
		return err
	}
	j := journal.New(client, store, journal.Options{WriteTimeout: time.Minute})
	if _, err := tell(j, true); err != nil {
		return err
	}
	orders := Orders(t.Seed, t.Payments)
	next := make(chan *Order)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for o := range next {
				t.payAndTell(j, o)
			}
		})
	}
	for i := t.Next; i < len(orders); i++ {
		fmt.Println("begin", i)
		next <- &orders[i]
	}
	close(next)
	wg.Wait()
	return done()
}

// payAndTell makes a payment, writes its outcome to the merchant's records, which are this process's output, and only then
// acknowledges it. A part of what is paid is refunded.
func (t *task) payAndTell(j *journal.Journal, o *Order) {
	paid, err := o.pay(background, j, t.Tokens[o.Card])
	v := verdictOf(paid, err)
	fmt.Println("told", o.ID, v)
	if v == Paid {
		payBackAndTell(j, o.ID, paid)
	}
	if v != Unknown && v != Pending {
		_ = j.Ack(background, journal.PaymentID(o.ID), journal.StateOf(paid, err)) // otherwise Recover yields it again
	}
}

// payBackAndTell refunds a part of a payment, and records and acknowledges that.
func payBackAndTell(j *journal.Journal, transactionID string, paid *cardgateway.Transaction) {
	r := Refund{ID: refundOf(transactionID), UniqueID: paid.UniqueID, Amount: "0.25"}
	refunded, err := j.CreateRefund(background, r.request())
	v := refundVerdict(refunded, err)
	fmt.Println("told", r.ID, v)
	if v != Unknown && v != Pending {
		_ = j.Ack(background, journal.RefundID(r.ID), journal.StateOf(refunded, err))
	}
}

// refundOf returns the id of a payment's refund. Unlike the journal, the merchant's records have one namespace for both.
func refundOf(transactionID string) string { return "back-" + transactionID }

// tell recovers, and writes the outcomes to the merchant's records. It returns how many payments and refunds are still
// open. With giveBack a part of what is paid is refunded.
func tell(j *journal.Journal, giveBack bool) (open int, err error) {
	ctx, cancel := context.WithTimeout(background, 5*time.Minute)
	defer cancel()
	for e, err := range j.Recover(ctx) {
		if err != nil {
			return 0, err
		}
		v, id := entryVerdict(&e), e.ID()
		fmt.Println("told", id.Text, v)
		switch {
		case v == Unknown || v == Pending:
			open++
			continue
		case v == Paid && giveBack && !id.Refund:
			_ = e.Outcome(func(paid *cardgateway.Transaction, _ error) error { // as the verdict says
				payBackAndTell(j, id.Text, paid)
				return nil
			}, nil)
		}
		if err := j.Ack(ctx, id, e.State()); err != nil {
			return 0, err
		}
	}
	return open, nil
}

// runLast recovers, as if a day later, until nothing is open any more.
func runLast(t *task) error {
	store, client, done, err := t.open()
	if err != nil {
		return err
	}
	for range 20 {
		open, err := tell(journal.New(client, Aged{store}, journal.Options{}), false) // no new refunds: they would appear as old, too
		if err != nil {
			return err
		}
		if open == 0 {
			break
		}
	}
	return done()
}
