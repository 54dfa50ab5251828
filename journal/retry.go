package journal

import (
	"context"
	"math/rand/v2"
	"time"
)

// retry is the patience of a call with a store that fails, before anything is sent: a database can be busy with other
// payments, or come back. The pauses grow and are jittered, so that many callers do not come back together.
type retry struct {
	until       time.Time
	pause, most time.Duration
}

const retryFor = 2 * time.Second

func newRetry(first, most time.Duration) *retry {
	return &retry{until: time.Now().Add(retryFor), pause: first, most: most}
}

// wait reports whether the store may be asked again, after a pause.
func (r *retry) wait(ctx context.Context) bool {
	pause := r.pause/2 + rand.N(r.pause/2)
	r.pause = min(2*r.pause, r.most)
	return time.Now().Add(pause).Before(r.until) && sleep(ctx, pause)
}
