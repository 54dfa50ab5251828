package faults

import (
	"cmp"
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
	Row
	Kind     string // of the store
	Kills    int
	Charged  int
	Refunded int // refunds that moved money
}

// Run makes the payments. A fifth of them also has a fault.
func (k KillRun) Run() (*KillResult, error) {
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
	r := &KillResult{Kind: storeKind(k.Store)}
	for chance := rand.New(rand.NewPCG(k.Seed, 2)); t.Next < k.Payments; {
		killed, err := t.live(books, chance, k.Payments/k.Lives)
		if err != nil {
			return nil, err
		}
		if killed {
			r.Kills++
		}
	}
	return r, r.settle(t, g, front, books)
}

// settle recovers what the processes have left, and compares what they have told with what happened to the money.
func (r *KillResult) settle(t *task, g *sandbox.Gateway, front *Front, books map[string]Verdict) error {
	if err := front.Drain(); err != nil {
		return err
	}
	orders := Orders(t.Seed, t.Payments)
	approvePending(g, orders)
	t.Role = "last"
	if _, err := t.live(books, nil, 0); err != nil {
		return err
	}
	r.Payments, r.Verdicts = t.Payments, make(map[Verdict]int)
	judge := func(id string, charged int) int {
		if v := books[id]; v != "" || charged > 0 {
			r.judge(id, cmp.Or(v, Unknown), charged)
		}
		return min(charged, 1)
	}
	for _, o := range orders {
		r.Charged += judge(o.ID, g.Executed(o.ID))
		r.Refunded += judge(refundOf(o.ID), g.Refunded(refundOf(o.ID)))
	}
	return nil
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

// killTable returns what became of the payments of processes that were killed.
func killTable(results []*KillResult) string {
	return table("Store|Payments|Kills|Charged|Refunded|Lost|Twice|Reported wrong|Open at the end", results, func(r *KillResult) []any {
		return []any{r.Kind, r.Payments, r.Kills, r.Charged, r.Refunded, r.Forgotten(), r.Twice, r.Wrong, r.Open()}
	})
}
