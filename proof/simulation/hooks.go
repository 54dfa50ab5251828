package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/cardgateway/cardgateway-go"
)

var errRefusing = errors.New("the vault has no key now")

// hook sets everything of the client's configuration that calls back: what reports and what can refuse.
func (p *process) hook(cfg *cardgateway.Config) {
	w := p.w
	if p.shop.config.Gateway.ZoneHours == 8 {
		cfg.Location = cardgateway.DefaultLocation()
	}
	authenticate := cfg.Authenticate
	cfg.Authenticate = func(r *http.Request, body []byte) error {
		if c := p.callOf(r.Context()); c.step.Refuse == "authenticate" {
			return errRefusing
		}
		return authenticate(r, body)
	}
	cfg.Limiter = limiter{p}
	cfg.Observe = func(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
		w.searchPrinted("Observe", op)
		p.observed.Add(1)
		return ctx, func(info cardgateway.CallInfo) {
			p.observed.Add(-1)
			w.searchPrinted("Observe", info)
			w.searchError("CallInfo.Err", info.Err)
			if info.Outcome == "" || (info.Err == nil) != isSuccess(info.Outcome) && info.Outcome != cardgateway.OutcomeCanceled {
				w.violate("Observe tells how a call ended", "%s ended with outcome %q and error %v", op.Name, info.Outcome, info.Err)
			}
		}
	}
	cfg.ObserveAttempt = func(ctx context.Context, info cardgateway.AttemptInfo) {
		w.searchPrinted("ObserveAttempt", info)
		w.searchError("AttemptInfo.Err", info.Err)
		if !info.Operation.Payment {
			return
		}
		c := p.callOf(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		if info.Sent {
			c.reported++
		}
		if c.whole > c.reported {
			w.violate("an attempt that was sent is reported", "%s: %d complete requests have left, and ObserveAttempt was told of %d",
				info.Operation.Name, c.whole, c.reported)
		}
	}
}

// checkRefused checks that nothing leaves in a call whose hook or limiter refuses.
func (c *call) checkRefused() {
	if c.step.Refuse == "authenticate" || c.step.Refuse == "limiter" {
		c.process.w.violate("what a hook refuses is not sent", "a request of %s has left, and %s refuses", c.process.name(), c.step.Refuse)
	}
}

func isSuccess(o cardgateway.Outcome) bool {
	switch o {
	case cardgateway.OutcomeOK, cardgateway.OutcomeApproved, cardgateway.OutcomeProcessing, cardgateway.OutcomeRedirect:
		return true
	}
	return false
}

// checkBalance checks that every call that Observe has seen begin has ended, once no call is under way. A process that was
// killed has calls that never ended.
func (p *process) checkBalance() {
	if n := p.observed.Load(); n != 0 && !p.isDead() {
		p.w.violate("Observe tells how a call ended", "%d calls of %s have begun and not ended", n, p.name())
	}
}

// limiter refuses if the step says so.
type limiter struct{ p *process }

func (l limiter) Wait(ctx context.Context) error {
	if c := l.p.callOf(ctx); c.step.Refuse == "limiter" {
		return errRefusing
	}
	return ctx.Err()
}

// searchPrinted looks for secrets in everything that printing a value shows.
func (w *world) searchPrinted(where string, v any) {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%v %+v %#v %s", v, v, v, v)
	_ = json.NewEncoder(&text).Encode(v) // not everything can be encoded
	slog.New(slog.NewTextHandler(&text, nil)).Info("", "value", v)
	w.searchSecrets(where, text.Bytes())
}
