package cardgateway

import (
	"context"
	"log/slog"
)

// The lines of Config.Logger: one for each call, and one for each attempt. They contain no URLs, bodies or secrets.

// log writes the one line that says how a call ended. A decline is a normal event, and so is a payment that the gateway does not
// know: a program that resolves outcomes queries it again and again. Outcomes that need attention are warnings. A query within a
// walk or Resolve has its line at debug level.
func (info *CallInfo) log(ctx context.Context, logger *slog.Logger, op *Operation, isWithin bool) {
	level := slog.LevelInfo
	switch info.Outcome {
	case OutcomeUnknown, OutcomeTest, OutcomeRefused, OutcomeConflict, OutcomeUnreadable:
		level = slog.LevelWarn
	case OutcomeNotFound:
		level = slog.LevelDebug
	}
	if isWithin {
		level = slog.LevelDebug
	}
	if !logger.Enabled(ctx, level) {
		return
	}
	attrs := op.appendIDs([]slog.Attr{slog.String("operation", op.Name), slog.String("outcome", string(info.Outcome))})
	if info.Code != 0 {
		attrs = append(attrs, slog.Int("code", int(info.Code)))
	}
	attrs = appendStatus(attrs, info.HTTPStatus, info.RequestID)
	if info.Attempts != 0 {
		attrs = append(attrs, slog.Int("attempts", info.Attempts))
	}
	attrs = append(attrs, slog.Duration("duration", info.Duration))
	if info.Outcome != OutcomeDeclined && info.Outcome != OutcomeNotFound {
		attrs = appendErr(attrs, info.Err)
	}
	logger.LogAttrs(ctx, level, "cardgateway call", attrs...)
}

// log writes one line about the attempt, at debug level.
func (info *AttemptInfo) log(ctx context.Context, logger *slog.Logger) {
	if !logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	op := &info.Operation
	attrs := op.appendIDs([]slog.Attr{
		slog.String("operation", op.Name), slog.String("method", op.Method), slog.String("path", op.PathTemplate),
		slog.Int("attempt", info.Number), slog.Duration("duration", info.Duration),
	})
	attrs = appendErr(appendStatus(attrs, info.HTTPStatus, info.RequestID), info.Err)
	if info.Err != nil && op.Payment { // a query may be repeated anyway
		attrs = append(attrs, slog.Bool("sent", info.Sent))
	}
	logger.LogAttrs(ctx, slog.LevelDebug, "cardgateway attempt", attrs...)
}

// appendIDs appends the ids that are given.
func (op *Operation) appendIDs(attrs []slog.Attr) []slog.Attr {
	for _, id := range [][2]string{
		{"transactionId", op.TransactionID}, {"refundTransactionId", op.RefundTransactionID}, {"uniqueId", op.UniqueID},
	} {
		if id[1] != "" {
			attrs = append(attrs, slog.String(id[0], id[1]))
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
