package faults

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// KillRun makes payments in a process that is killed at random moments, with SIGKILL, and started again. What is paid is
// given back in part.
type KillRun struct {
	Store    string // see OpenStore
	Payments int
	Lives    int // about how many payments each process gets to begin is Payments / Lives
	Seed     uint64
}

// KillResult is what came of it.
type KillResult struct {
	Payments  int
	Kills     int
	Charged   int
	Refunded  int // refunds by which money was given back
	Forgotten int // charged, and the merchant was never told that it was paid; or given back, and never told
	Twice     int
	Wrong     int // told paid and was not, or told a final no and was
	Open      int // payments and refunds without an outcome in the end
	Posts     int64
	Took      time.Duration
}

// Broken is how many payments and refunds the promise was broken for.
func (r *KillResult) Broken() int { return r.Forgotten + r.Twice + r.Wrong + r.Open }

// Run makes the payments. A fifth of them meets a fault too.
func (k KillRun) Run() (*KillResult, error) {
	const patience = 300 * time.Millisecond
	begun := time.Now()
	g := sandbox.New(sandbox.Options{
		Duplicates: sandbox.DuplicatesExecuted, RefundDuplicates: sandbox.RefundDuplicatesExecuted, NoNotifications: true, Seed: k.Seed,
	})
	defer g.Close()
	tokens, err := storeTokens(g)
	if err != nil {
		return nil, err
	}
	front := NewFront(g, FrontOptions{Seed: k.Seed, PaymentShare: 0.2, QueryShare: 0.2, Patience: patience})
	defer front.Close()
	t := &task{
		Role: "shop", Store: k.Store, URL: front.URL, Tokens: tokens, Patience: patience, Seed: k.Seed, Payments: k.Payments,
	}
	books := make(map[string]Verdict)
	r := &KillResult{Payments: k.Payments}
	for chance := rand.New(rand.NewPCG(k.Seed, 2)); t.Next < k.Payments; {
		killed, err := t.live(books, chance, k.Payments/k.Lives)
		if err != nil {
			return nil, err
		}
		if killed {
			r.Kills++
		}
	}
	if err := front.Settle(); err != nil {
		return nil, err
	}
	for _, o := range Orders(k.Seed, k.Payments) {
		if o.Card == sandbox.Pending {
			g.Settle(o.ID, true)
		}
	}
	t.Role = "last"
	if _, err := t.live(books, nil, 0); err != nil {
		return nil, err
	}
	r.Posts, r.Took = front.Posts.Load(), time.Since(begun)
	for _, o := range Orders(k.Seed, k.Payments) {
		r.Charged += r.judge(books[o.ID], g.Executed(o.ID))
		if back := refundOf(o.ID); books[back] != "" || g.Refunded(back) > 0 { // a payment may be given back or not
			r.Refunded += r.judge(books[back], g.Refunded(back))
		}
	}
	return r, nil
}

// live runs one process and writes down what it says. With chance it is killed once it has begun about so many
// payments, or shortly afterwards, wherever it then is.
func (t *task) live(books map[string]Verdict, chance *rand.Rand, payments int) (killed bool, err error) {
	c, err := startChild(t)
	if err != nil {
		return false, err
	}
	left := -1
	if chance != nil {
		left = 1 + chance.IntN(2*payments)
	}
	for {
		word, rest, ok := c.next()
		if !ok {
			break
		}
		switch word {
		case "begin":
			i, _ := strconv.Atoi(rest) // written by this program
			t.Next = i + 1
			if left--; left == 0 && t.Next < t.Payments {
				time.Sleep(time.Duration(chance.IntN(8000)) * time.Microsecond)
				killed = c.cmd.Process.Kill() == nil
			}
		case "told":
			id, v, _ := strings.Cut(rest, " ")
			books[id] = Verdict(v)
		}
	}
	if err := c.cmd.Wait(); err != nil && !killed {
		return false, err
	}
	return killed, nil
}

// judge returns 1 if money was moved.
func (r *KillResult) judge(v Verdict, charged int) int {
	switch {
	case charged > 1:
		r.Twice++
	case v == Unknown || v == Pending:
		r.Open++
	case charged > 0 && v == "":
		r.Forgotten++
	case charged > 0 != (v == Paid):
		r.Wrong++
	}
	return min(charged, 1)
}
