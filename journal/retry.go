package journal

import (
	"context"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/random"
)

// retry limits how long a call retries a store that fails, before anything is sent: a database can be busy with other
// payments, or come back. The pauses grow and are randomized, so that many callers do not retry at the same time.
type retry struct {
	until       time.Time
	pause, most time.Duration
}

const retryFor = 2 * time.Second

func newRetry(first, most time.Duration) *retry {
	return &retry{until: time.Now().Add(retryFor), pause: first, most: most}
}

// wait pauses before the next attempt. It returns false if there is no time for one, or ctx has ended.
func (r *retry) wait(ctx context.Context) bool {
	pause := random.Pause(r.pause)
	r.pause = min(2*r.pause, r.most)
	return time.Now().Add(pause).Before(r.until) && sleep(ctx, pause)
}
