package journal

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// TestGuarded: guarded returns the result of the store's call, or ends as that call does, by panic or Goexit. If the
// context ends first, it returns the context's error.
func TestGuarded(t *testing.T) {
	failed := errors.New("failed")
	for _, tt := range []struct {
		name string
		call func(context.Context) (int, error)
		want string
	}{
		{"a result", func(context.Context) (int, error) { return 7, nil }, "7 <nil>"},
		{"an error", func(context.Context) (int, error) { return 0, failed }, "0 failed"},
		{"a panic", func(context.Context) (int, error) { panic("a mistake") }, "panic: a mistake"},
		{"the end of the goroutine", func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }, "ended"},
		{"deaf", func(context.Context) (int, error) { time.Sleep(time.Minute); return 7, nil }, "0 the store has not answered: context deadline exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				got := "ended"
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() {
						if p := recover(); p != nil {
							got = fmt.Sprint("panic: ", p)
						}
					}()
					value, err := guarded(ctx, tt.call)
					got = fmt.Sprint(value, " ", err)
				}()
				<-done
				if got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				time.Sleep(time.Minute) // the deaf one ends
			})
		})
	}
}

// TestGuardedWithACause: the cause with which a context ends can be the error of another call, as in an errgroup. It is not that of
// the store.
func TestGuardedWithACause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cardgateway.ErrDeclined)
	forever := make(chan struct{})
	defer close(forever)
	_, err := guarded(ctx, func(context.Context) (bool, error) {
		<-forever
		return false, nil
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, cardgateway.ErrDeclined) {
		t.Errorf("got %v, want %v alone", err, context.Canceled)
	}
}
