package otel_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/otel"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// ofShop returns options with an attribute, which comes last in the names of all values.
func (tm *telemetry) ofShop() otel.Options {
	tm.Attributes = []attribute.KeyValue{attribute.String("shop", "berlin")}
	return tm.Options
}

// gauges returns the gauges of a journal with these counts.
func gauges(unknown, pending, absent, refused, conflicting, settled, unanswered, unreadable, failing float64) map[string]float64 {
	const entries, shop = "cardgateway.journal.entries cardgateway.journal.state=", " shop=berlin"
	return map[string]float64{
		"cardgateway.journal.working" + shop: 1,
		entries + "unknown" + shop:           unknown, entries + "pending" + shop: pending, entries + "presumed_absent" + shop: absent,
		entries + "refused" + shop: refused, entries + "conflict" + shop: conflicting, entries + "settled" + shop: settled,
		"cardgateway.journal.unanswered" + shop: unanswered, "cardgateway.journal.unreadable" + shop: unreadable, "cardgateway.journal.failing" + shop: failing,
	}
}

// TestObserveJournal: the gauges are those of the last complete Recover; every Recover has a duration. No text of an error is recorded.
func TestObserveJournal(t *testing.T) {
	const complete, incomplete = "cardgateway.journal.recover.duration cardgateway.journal.complete=true shop=berlin",
		"cardgateway.journal.recover.duration cardgateway.journal.complete=false shop=berlin"
	counted := journal.RecoverInfo{
		Open: 1, Pending: 2, PresumedAbsent: 3, Refused: 4, Conflicts: 5, Settled: 6, Unanswered: 7, Unreadable: 8, Failing: 9, Complete: true,
		OldestOpen: time.Now().Add(-time.Hour), Duration: time.Second, LastError: errors.New("token tok-1"),
	}
	for _, tt := range []struct {
		name     string
		observed []journal.RecoverInfo
		want     map[string]float64 // the gauges but the age
		age      time.Duration      // of the oldest unknown, at least; negative means that there is none
		durations
	}{
		{"none yet", nil, nil, -1, durations{}},
		{"one", []journal.RecoverInfo{counted}, gauges(1, 2, 3, 4, 5, 6, 7, 8, 9), time.Hour, durations{complete: 1}},
		{"nothing left", []journal.RecoverInfo{counted, {Complete: true}}, gauges(0, 0, 0, 0, 0, 0, 0, 0, 0), 0, durations{complete: 2}},
		{"a failed one changes no gauge", []journal.RecoverInfo{counted, {Open: 9}}, gauges(1, 2, 3, 4, 5, 6, 7, 8, 9), time.Hour,
			durations{complete: 1, incomplete: 1}},
		{"a failed one first", []journal.RecoverInfo{{Open: 9}}, nil, -1, durations{incomplete: 1}},
		{"another process works then", []journal.RecoverInfo{counted, {Standby: true}},
			map[string]float64{"cardgateway.journal.working shop=berlin": 0}, -1, durations{complete: 1}},
		{"and this one again", []journal.RecoverInfo{{Standby: true}, counted}, gauges(1, 2, 3, 4, 5, 6, 7, 8, 9), time.Hour, durations{complete: 1}},
		{"a clock that was set back", []journal.RecoverInfo{{Open: 1, Complete: true, OldestOpen: time.Now().Add(time.Hour)}},
			gauges(1, 0, 0, 0, 0, 0, 0, 0, 0), 0, durations{complete: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			telemetry := newTelemetry()
			observe, err := otel.ObserveJournal(telemetry.ofShop())
			if err != nil {
				t.Fatal(err)
			}
			for _, info := range tt.observed {
				observe(t.Context(), info)
			}
			got := telemetry.values(t)
			age, ok := got[otel.JournalOldestUnknownMetric+" shop=berlin"]
			if delete(got, otel.JournalOldestUnknownMetric+" shop=berlin"); ok != (tt.age >= 0) || ok && (age < tt.age.Seconds() || age > tt.age.Seconds()+60) {
				t.Errorf("age: got %v, %t, want %v", age, ok, tt.age)
			}
			want := maps.Clone(map[string]float64(tt.durations))
			maps.Copy(want, tt.want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}

type durations map[string]float64

// TestObserveNotifications: notifications are counted by result, from zero, without their ids and the text of errors.
func TestObserveNotifications(t *testing.T) {
	const count, duration = "cardgateway.notifications cardgateway.notification.result=", "cardgateway.notification.duration "
	zero := map[string]float64{}
	for _, result := range []string{"handled", "repeated", "throttled", "failed", "rejected"} {
		zero[count+result+" shop=berlin"] = 0
	}
	for _, tt := range []struct {
		name   string
		info   *notify.Info
		result string
		want   string // the attributes of the duration
	}{
		{"none yet", nil, "", ""},
		{"handled", &notify.Info{Kind: notify.KindPayment, Status: 200}, "handled", "payment cardgateway.notification.result=handled http.response.status_code=200"},
		{"repeated", &notify.Info{Kind: notify.KindRefund, Status: 200, Repeated: true}, "repeated",
			"refund cardgateway.notification.result=repeated http.response.status_code=200"},
		{"throttled", &notify.Info{Kind: notify.KindPayment, Status: 503, Throttled: true}, "throttled",
			"payment cardgateway.notification.result=throttled http.response.status_code=503"},
		{"failed", &notify.Info{Kind: notify.KindChargeback, Status: 503, Err: errors.New("down")}, "failed",
			"chargeback cardgateway.notification.result=failed http.response.status_code=503"},
		{"rejected", &notify.Info{Status: 403, Err: errors.New("forged")}, "rejected",
			"unknown cardgateway.notification.result=rejected http.response.status_code=403"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			telemetry := newTelemetry()
			observe, err := otel.ObserveNotifications(telemetry.ofShop())
			if err != nil {
				t.Fatal(err)
			}
			want := maps.Clone(zero)
			if tt.info != nil {
				tt.info.UniqueID = "4711"
				observe(t.Context(), *tt.info)
				want[count+tt.result+" shop=berlin"], want[duration+"cardgateway.notification.kind="+tt.want+" shop=berlin"] = 1, 1
			}
			if diff := cmp.Diff(want, telemetry.values(t)); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}

var errNoMetric = errors.New("no metric")

// refusingMetric is a meter that has no metric of this name.
type refusingMetric struct {
	noop.Meter
	name string
}

func (r refusingMetric) err(name string) error {
	if name == r.name {
		return errNoMetric
	}
	return nil
}

// provider is a meter provider without a metric.
type provider struct {
	noop.MeterProvider
	without string
}

func (p provider) Meter(string, ...metric.MeterOption) metric.Meter {
	return refusingMetric{name: p.without}
}

func (r refusingMetric) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return noop.Int64Counter{}, r.err(name)
}

func (r refusingMetric) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return noop.Float64Histogram{}, r.err(name)
}

func (r refusingMetric) Int64ObservableGauge(name string, _ ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	return noop.Int64ObservableGauge{}, r.err(name)
}

func (r refusingMetric) Float64ObservableGauge(name string, _ ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	return noop.Float64ObservableGauge{}, r.err(name)
}

func (r refusingMetric) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	return noop.Registration{}, r.err("callback")
}

// TestMeterErrors: an error of the meter provider is returned, whichever metric it is about, and no hook is set.
func TestMeterErrors(t *testing.T) {
	for _, name := range []string{
		otel.DurationMetric, otel.UnknownOutcomesMetric,
		otel.JournalWorkingMetric, otel.JournalEntriesMetric, otel.JournalUnansweredMetric, otel.JournalUnreadableMetric, otel.JournalFailingMetric,
		otel.JournalOldestUnknownMetric, otel.JournalRecoverDurationMetric, "callback", otel.NotificationsMetric, otel.NotificationDurationMetric,
	} {
		t.Run(name, func(t *testing.T) {
			o, cfg := otel.Options{MeterProvider: provider{without: name}}, cardgateway.Config{BaseURL: "https://gateway.example"}
			instrumentErr := otel.Instrument(&cfg, o)
			observeJournal, journalErr := otel.ObserveJournal(o)
			observeNotifications, notifyErr := otel.ObserveNotifications(o)
			if err := errors.Join(instrumentErr, journalErr, notifyErr); !errors.Is(err, errNoMetric) {
				t.Errorf("got %v, want %v", err, errNoMetric)
			}
			if (cfg.Observe == nil) != (instrumentErr != nil) || (cfg.ObserveAttempt == nil) != (instrumentErr != nil) ||
				(observeJournal == nil) != (journalErr != nil) || (observeNotifications == nil) != (notifyErr != nil) {
				t.Error("got a function beside an error, or none without one")
			}
		})
	}
}
