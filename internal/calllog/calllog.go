// Package calllog writes the lines of the client's log: one for each call, and one for each attempt. They contain no URLs,
// bodies or secrets.
package calllog

import (
	"context"
	"log/slog"
	"time"
)

// IDs are the ids that a call sends or searches for. Those that are empty are left out.
type IDs struct {
	Transaction, Refund string // the merchant's
	Unique              string // the gateway's
}

// Call says how a call ended.
type Call struct {
	Operation string
	IDs       IDs
	Outcome   string
	RequestID string // of the response; empty if it has none
	Code      int    // zero if the response had none
	Status    int    // zero if no response came
	Attempts  int    // zero for a call that makes other calls
	Duration  time.Duration
	Err       error // left out if nil
}

// Write writes one line about the end of a call.
func (c *Call) Write(ctx context.Context, logger *slog.Logger, level slog.Level) {
	if logger == nil || !logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("operation", c.Operation), slog.String("outcome", c.Outcome)}
	attrs = appendIDs(attrs, &c.IDs)
	if c.Code != 0 {
		attrs = append(attrs, slog.Int("code", c.Code))
	}
	attrs = appendStatus(attrs, c.Status, c.RequestID)
	if c.Attempts != 0 {
		attrs = append(attrs, slog.Int("attempts", c.Attempts))
	}
	attrs = append(attrs, slog.Duration("duration", c.Duration))
	logger.LogAttrs(ctx, level, "cardgateway call", appendErr(attrs, c.Err)...)
}

// Attempt says how one attempt ended.
type Attempt struct {
	Operation, Method, Path string
	IDs                     IDs
	Number                  int
	RequestID               string // of the response; empty if it has none
	Status                  int    // zero if no response came
	Duration                time.Duration
	Err                     error // why no usable response came; nil if one did
	Payment                 bool
	Sent                    bool // for a failed payment: it may have reached the gateway
}

// Write writes one line about the attempt, at debug level.
func (a *Attempt) Write(ctx context.Context, logger *slog.Logger) {
	if logger == nil || !logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", a.Operation), slog.String("method", a.Method), slog.String("path", a.Path),
		slog.Int("attempt", a.Number), slog.Duration("duration", a.Duration),
	}
	attrs = appendStatus(appendIDs(attrs, &a.IDs), a.Status, a.RequestID)
	attrs = appendErr(attrs, a.Err)
	if a.Err != nil && a.Payment { // a query may be repeated anyway
		attrs = append(attrs, slog.Bool("sent", a.Sent))
	}
	logger.LogAttrs(ctx, slog.LevelDebug, "cardgateway attempt", attrs...)
}

func appendIDs(attrs []slog.Attr, ids *IDs) []slog.Attr {
	for _, id := range []struct{ name, id string }{
		{"transactionId", ids.Transaction}, {"refundTransactionId", ids.Refund}, {"uniqueId", ids.Unique},
	} {
		if id.id != "" {
			attrs = append(attrs, slog.String(id.name, id.id))
		}
	}
	return attrs
}

func appendStatus(attrs []slog.Attr, status int, requestID string) []slog.Attr {
	if status != 0 {
		attrs = append(attrs, slog.Int("status", status))
	}
	if requestID != "" {
		attrs = append(attrs, slog.String("requestId", requestID))
	}
	return attrs
}

func appendErr(attrs []slog.Attr, err error) []slog.Attr {
	if err == nil {
		return attrs
	}
	return append(attrs, slog.String("error", err.Error()))
}
