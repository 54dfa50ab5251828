package notify

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Info says how a notification was received. It quotes nothing of the payload, unless an error of Verify, of the Deduper or
// of the merchant's function does.
type Info struct {
	Kind     Kind   // as claimed
	UniqueID string // as claimed, digits only; empty if there was none
	Status   int    // the HTTP status of the response
	Repeated bool   // it had been handled before
	Err      error  // why the status is not 200; cardgateway.ErrNotFound among it if the gateway does not know the id
	Duration time.Duration
}

// reporter tells a logger and the merchant's Observe what became of each notification.
type reporter struct {
	logger  *slog.Logger // may be nil
	observe func(context.Context, Info)
	warned  sync.Map // possible mistakes in the settings that have been reported
}

// settingMistakes are the reasons of a refusal that can be a mistake in the settings.
var settingMistakes = []error{errNoSecretKey, errNoTokenURLs, errNotVerified, errUnauthorized}

// report writes one line and calls Observe. Anybody can cause lines at debug level; those above it need something that the
// gateway confirmed. What can be a mistake in the settings is reported above debug level too, but only once.
func (p *reporter) report(ctx context.Context, info Info) {
	level := slog.LevelDebug
	if errors.Is(info.Err, errNotHandled) || errors.Is(info.Err, errOtherToken) {
		level = slog.LevelWarn
	}
	for _, mistake := range settingMistakes {
		if errors.Is(info.Err, mistake) && p.isFirst(mistake) {
			level = slog.LevelWarn
		}
	}
	p.log(ctx, level, info)
	if p.observe != nil {
		p.observe(ctx, info)
	}
}

func (p *reporter) isFirst(reason error) bool {
	_, warned := p.warned.LoadOrStore(reason, true)
	return !warned
}

func (p *reporter) log(ctx context.Context, level slog.Level, info Info) {
	if p.logger == nil || !p.logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("kind", info.Kind.String()), slog.String("uniqueId", info.UniqueID),
		slog.Int("status", info.Status), slog.Bool("repeated", info.Repeated), slog.Duration("duration", info.Duration),
	}
	if info.Err != nil {
		attrs = append(attrs, slog.String("error", info.Err.Error()))
	}
	p.logger.LogAttrs(ctx, level, "cardgateway notification", attrs...)
}

// claimNotEnded reports that a Deduper could not end a claim.
func (p *reporter) claimNotEnded(ctx context.Context, handled bool, err error) {
	if p.logger != nil {
		p.logger.LogAttrs(ctx, slog.LevelWarn, "cardgateway notification: the Deduper could not end a claim",
			slog.Bool("handled", handled), slog.String("error", err.Error()))
	}
}
