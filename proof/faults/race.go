package faults

import (
	"fmt"
	"io"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

const raceCallers = 50

// RaceResult is the result of two processes that made the same payment at the same time, with 50 callers each.
type RaceResult struct {
	Posts    int64
	Executed int
	Answers  map[string]int // number of callers by result
}

// Race makes one payment from two processes with a shared store. The gateway responds slowly.
func Race(store string, seed uint64) (*RaceResult, error) {
	g := sandbox.New(sandbox.Options{Duplicates: sandbox.DuplicatesExecuted, NoNotifications: true})
	defer g.Close()
	g.Inject(sandbox.Fault{Operation: sandbox.OpPayments, After: 300 * time.Millisecond, Times: -1})
	front := NewFront(g, FrontOptions{Seed: seed})
	defer front.Close()
	t := &task{Role: "race", Store: store, URL: front.URL, Seed: seed, At: time.Now().Add(time.Second)}
	var both []*child
	for range 2 {
		c, err := startChild(t)
		if err != nil {
			return nil, err
		}
		both = append(both, c)
	}
	r := &RaceResult{Answers: make(map[string]int)}
	for _, c := range both {
		for {
			word, rest, ok := c.next()
			if !ok {
				break
			}
			r.Answers[word+" "+rest]++
		}
		if err := c.cmd.Wait(); err != nil {
			return nil, fmt.Errorf("faults: race: %w", err)
		}
	}
	r.Posts, r.Executed = front.Posts.Load(), g.Executed(Orders(seed, 1)[0].ID)
	return r, nil
}

// PrintRaces writes what two processes with one transactionId were told, for each store.
func PrintRaces(w io.Writer, stores []string, rows []*RaceResult) {
	var cells [][]any
	for i, r := range rows {
		cells = append(cells, []any{stores[i], 2 * raceCallers, int(r.Posts), r.Executed, len(r.Answers)})
	}
	printTable(w, "Store|Callers in two processes|Requests|Charges|Different results", cells)
}
