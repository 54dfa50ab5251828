package clienttest

import (
	"context"
	"fmt"
	"log/slog"
)

// LineLog keeps what is logged at info level and above, in short.
type LineLog []string

// Enabled implements slog.Handler.
func (*LineLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle implements slog.Handler.
func (l *LineLog) Handle(_ context.Context, record slog.Record) error {
	line := record.Level.String()
	record.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "operation", "outcome":
			line += " " + a.Value.String()
		case "error":
			line += " error" // its text is tested elsewhere
		case "duration":
		default:
			line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		}
		return true
	})
	*l = append(*l, line)
	return nil
}

// WithAttrs implements slog.Handler.
func (l *LineLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l *LineLog) WithGroup(string) slog.Handler { return l }
