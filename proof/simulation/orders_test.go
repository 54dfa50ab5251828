package simulation

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestEveryOrder runs every order of three steps of one payment and of one refund, with each kind of gateway in turn: where the
// other histories are random, nothing is left out here. CARDGATEWAY_LONG=1 makes it four steps.
func TestEveryOrder(t *testing.T) {
	steps := []Step{
		{Do: "pay"},
		{Do: "pay", Post: "lost"},
		{Do: "pay", Post: "late", Delay: time.Hour},
		{Do: "pay", Post: "dropped"},
		{Do: "pay", Post: "down"},
		{Do: "pay", Post: "lost", DieAt: 2},
		{Do: "pay", DieAt: 3},
		{Do: "pay again"},
		{Do: "pay again", Post: "lost"},
		{Do: "recover"},
		{Do: "ack told"},
		{Do: "sleep", After: 25 * time.Hour},
	}
	length := 3
	if os.Getenv("CARDGATEWAY_LONG") == "1" {
		length = 4
	}
	for _, kind := range []struct {
		name   string
		things []Thing
		before []Step
	}{
		{"payment", []Thing{{}}, nil},
		{"refund", []Thing{{}, {Op: "CreateRefund", Of: 0}}, []Step{{Do: "pay"}}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			runs := 0
			eachOrder(steps, length, func(order []Step) {
				if t.Failed() {
					return
				}
				for i := range order {
					order[i].Thing = len(kind.things) - 1
				}
				h := &History{
					Seed: uint64(runs), Things: kind.things, Steps: append(kind.before[:len(kind.before):len(kind.before)], order...),
					World: World{Shops: []Shop{{Gateway: Gateway{
						Search: sandbox.Search{Lag: 10 * time.Minute, LagOneIn: 2}, Duplicates: everyDuplicates[runs%len(everyDuplicates)],
						RefundDuplicates: everyRefundDuplicates[runs%len(everyRefundDuplicates)],
					}}}},
				}
				if r := Run(t, h, false); len(r.Broken) > 0 {
					t.Errorf("%v\n%s\n%s", r.Broken, strings.Join(Run(t, h, true).Story, "\n"), h.Code())
				}
				runs++
			})
			t.Logf("%d orders of %d steps", runs, length)
		})
	}
}

var (
	everyDuplicates = []sandbox.Duplicates{
		sandbox.DuplicatesExecuted, sandbox.DuplicatesDeclined, sandbox.DuplicatesRefused, sandbox.DuplicatesPerOrder,
	}
	everyRefundDuplicates = []sandbox.RefundDuplicates{
		sandbox.RefundDuplicatesExecuted, sandbox.RefundDuplicatesRefused, sandbox.RefundDuplicatesRepeated,
	}
)

// eachOrder calls do with every sequence of so many of the steps. Each call gets a copy.
func eachOrder(steps []Step, length int, do func([]Step)) {
	var grow func([]Step)
	grow = func(taken []Step) {
		if len(taken) == length {
			do(append([]Step{}, taken...))
			return
		}
		for _, s := range steps {
			grow(append(taken[:len(taken):len(taken)], s))
		}
	}
	grow(nil)
}
