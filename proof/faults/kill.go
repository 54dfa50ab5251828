package faults

import (
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// KillRun makes payments in a process that is killed at random moments, with SIGKILL, and started again. What is paid is
// refunded in part.
type KillRun struct {
	Store    string // see OpenStore
	Payments int
	Lives    int // number of processes: each begins about Payments / Lives payments
	Seed     uint64
}

// KillResult is the result of a KillRun.
type KillResult struct {
	Payments  int
	Kills     int
	Charged   int
	Refunded  int // refunds that moved money
	Forgotten int // charged or refunded, and never reported to the merchant as such
	Twice     int
	Wrong     int // reported as paid and was not, or as finally not paid and was
	Open      int // payments and refunds without a final outcome
	Took      time.Duration
}

// Broken returns the number of payments and refunds for which a guarantee was broken.
func (r *KillResult) Broken() int { return r.Forgotten + r.Twice + r.Wrong + r.Open }

// Run makes the payments. A fifth of them also has a fault.
func (k KillRun) Run() (*KillResult, error) {
	begun := time.Now()
	g := sandbox.New(sandbox.Options{
		Duplicates: sandbox.DuplicatesExecuted, RefundDuplicates: sandbox.RefundDuplicatesExecuted, NoNotifications: true, Seed: k.Seed,
	})
	defer g.Close()
	front := NewFront(g, FrontOptions{Seed: k.Seed, PaymentShare: 0.2, QueryShare: 0.2})
	defer front.Close()
	t := &task{
		Role: "shop", Store: k.Store, URL: front.URL, Tokens: storedCards(g), Patience: patience, Seed: k.Seed, Payments: k.Payments,
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
	if err := front.Drain(); err != nil {
		return nil, err
	}
	orders := Orders(k.Seed, k.Payments)
	approvePending(g, orders)
	t.Role = "last"
	if _, err := t.live(books, nil, 0); err != nil {
		return nil, err
	}
	r.Took = time.Since(begun)
	for _, o := range orders {
		r.Charged += r.judge(books[o.ID], g.Executed(o.ID))
		if back := refundOf(o.ID); books[back] != "" || g.Refunded(back) > 0 { // a payment may be refunded or not
			r.Refunded += r.judge(books[back], g.Refunded(back))
		}
	}
	return r, nil
}

// live runs one process and records its output. With a certain probability the process is killed after it has begun about
// so many payments, or shortly afterwards, at any point.
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

// PrintKills writes what became of the payments of processes that were killed, for each store.
func PrintKills(w io.Writer, stores []string, rows []*KillResult) {
	var cells [][]any
	for i, r := range rows {
		cells = append(cells, []any{stores[i], r.Payments, r.Kills, r.Charged, r.Refunded, r.Forgotten, r.Twice, r.Wrong, r.Open})
	}
	printTable(w, "Store|Payments|Kills|Charged|Refunded|Lost|Twice|Reported wrong|Open at the end", cells)
}
