package notify

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// Info says how a notification was processed. It quotes nothing of the payload, unless an error of Verify, of the Deduper
// or of the merchant's function does.
type Info struct {
	Kind     Kind   // as claimed
	UniqueID string // as claimed, digits only; empty if there was none
	Status   int    // the HTTP status of the response
	Repeated bool   // it was handled before
	Err      error  // why the status is not 200; wraps cardgateway.ErrNotFound if the gateway does not know the id
	Duration time.Duration

	// Verified says that Options.Verify is set and returned no error.
	Verified bool
	// Waited is how long a verified notification waited for its turn. Duration includes it.
	Waited time.Duration
	// Throttled says that the notification was rejected with HTTP 503 because of a limit of the handler: on queries per
	// second, on notifications at once, or on the wait for a turn. The gateway repeats it, but only a few times: monitor
	// this field.
	Throttled bool
}

// warnOnce lists the reasons of a rejection that anybody can cause but that the merchant needs to know: possible wrong
// settings, and genuine notifications that may be lost.
var warnOnce = []error{errNoSecretKey, errNoTokenURLs, errNotVerified, errUnauthorized, errThrottled, verdict.ErrOtherApp}

// report writes one line and calls Observe. Anybody can cause lines at debug level; lines at warn level need something that
// the gateway confirmed, or are the first one with a reason of warnOnce.
func (h *handler) report(ctx context.Context, info Info) {
	level := slog.LevelDebug
	if isMerchants(info.Err) || errors.Is(info.Err, errOtherToken) {
		level = slog.LevelWarn
	}
	info.Throttled = errors.Is(info.Err, errThrottled)
	for _, reason := range warnOnce {
		if errors.Is(info.Err, reason) {
			if _, warned := h.warned.LoadOrStore(reason, true); !warned {
				level = slog.LevelWarn
			}
		}
	}
	if h.opts.Observe != nil {
		defer h.opts.Observe(ctx, info) // also if the logger panics
	}
	h.log(ctx, level, info)
}

// isMerchants reports whether a function of the merchant, or the Deduper, has failed.
func isMerchants(err error) bool {
	return errors.Is(err, errNotHandled) || errors.Is(err, errPanicked) || errors.Is(err, errNoClaim)
}

func (h *handler) log(ctx context.Context, level slog.Level, info Info) {
	attrs := []slog.Attr{
		slog.String("kind", info.Kind.String()), slog.String("uniqueId", info.UniqueID),
		slog.Int("status", info.Status), slog.Bool("repeated", info.Repeated), slog.Duration("duration", info.Duration),
	}
	if info.Verified {
		attrs = append(attrs, slog.Duration("waited", info.Waited))
	}
	if info.Err != nil {
		attrs = append(attrs, slog.String("error", info.Err.Error()))
	}
	h.opts.Logger.LogAttrs(ctx, level, "cardgateway notification", attrs...)
}

// claimNotEnded reports that a Deduper could not end a claim.
func (h *handler) claimNotEnded(ctx context.Context, handled bool, err error) {
	h.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "cardgateway notification: the Deduper could not end a claim",
		slog.Bool("handled", handled), slog.String("error", err.Error()))
}
