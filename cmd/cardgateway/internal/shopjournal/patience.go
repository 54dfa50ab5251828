package shopjournal

import (
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
)

// Patience is how long the journal waits. The values must be those of the shop's program.
type Patience struct {
	AbsentAfter time.Duration `default:"24h" help:"journal.Options.AbsentAfter of the shop's program: the time after which an entry that the gateway does not know is presumed absent."`
}

// Check rejects values that the journal does not accept.
func (f *Patience) Check() error {
	if f.AbsentAfter < 15*time.Minute {
		return exit.Fail(exit.Failed, "--absent-after must be at least 15m, because a request can arrive late")
	}
	return nil
}
