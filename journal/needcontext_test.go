package journal_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestNilContext calls every exported method that takes a context with none: it is an invalid request, nothing is sent, and
// no panic. What is known about the payment stays known.
func TestNilContext(t *testing.T) {
	var none context.Context
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(lost)
		_, _ = s.pay("a", approved)
		sent := s.sent.Load()
		checked := 0
		for _, of := range []any{s.Journal, s.AfterRefusal(), s.PayAgainRiskingSecondCharge(journal.AcceptNoOrderGuard, journal.AcceptSecondRefund), s.store} {
			v := reflect.ValueOf(of)
			for i := range v.NumMethod() {
				method, call := v.Type().Method(i), v.Method(i)
				if call.Type().NumIn() == 0 || call.Type().In(0) != reflect.TypeFor[context.Context]() {
					continue
				}
				checked++
				want := method.Name + ": invalid request: ctx must not be nil"
				if err := callWithoutContext(call); !errors.Is(err, cardgateway.ErrInvalidRequest) || !strings.Contains(err.Error(), want) {
					t.Errorf("%v: got %v, want %s", v.Type(), err, want)
				}
			}
		}
		if checked < 30 {
			t.Errorf("%d methods, want all", checked)
		}
		if n := s.sent.Load(); n != sent {
			t.Errorf("%d requests were sent", n-sent)
		}
		if _, err := s.CreateSubscription(none, order("a", approved)); !errors.Is(err, cardgateway.ErrInvalidRequest) {
			t.Errorf("a payment that is open: %v", err)
		}
		wantStates(t, s.Journal, map[string]string{"a": "unknown"})
	})
}

// callWithoutContext calls a method with a nil context and otherwise valid arguments, and returns its error, or the first that
// its loop yields.
func callWithoutContext(call reflect.Value) (err error) {
	args := make([]reflect.Value, call.Type().NumIn())
	for i := range args {
		in := call.Type().In(i)
		args[i] = reflect.Zero(in)
		switch {
		case in.Kind() == reflect.Pointer:
			args[i] = reflect.New(in.Elem())
		case in.Kind() == reflect.Func:
			args[i] = reflect.MakeFunc(in, nil)
		}
	}
	out := call.Call(args)
	last := out[len(out)-1]
	if last.Kind() == reflect.Func {
		for _, second := range last.Seq2() {
			last = second
			break
		}
	}
	err, _ = last.Interface().(error)
	return err
}
