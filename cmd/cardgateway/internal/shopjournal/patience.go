package shopjournal

import (
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
)

// Patience are for how long the journal waits. They must be as the shop's program sets them.
type Patience struct {
	AbsentAfter  time.Duration `name:"absent-after" default:"24h" help:"journal.Options.AbsentAfter of the shop's program: when what the gateway does not know is presumed absent."`
	AbandonAfter time.Duration `name:"abandon-after" default:"168h" help:"journal.Options.AbandonAfter of the shop's program: when a cardholder is not waited for any more."`
}

// Check refuses what the journal would not take.
func (f *Patience) Check() error {
	if f.AbsentAfter < 15*time.Minute {
		return exit.Fail(exit.NoAnswer, "--absent-after must be 15m or more: a request can arrive late")
	}
	if f.AbandonAfter == 0 {
		return exit.Fail(exit.NoAnswer, "--abandon-after must not be zero; a negative one means never")
	}
	return nil
}
