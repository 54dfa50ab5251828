package otel_test

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/otel"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

const (
	dashboardFile = "dashboard.json"
	alertsFile    = "alerts.yml"
)

// TestDashboard: every metric, label, value and variable in the dashboard exists, and the dashboard shows every metric.
func TestDashboard(t *testing.T) {
	text, names := readUnescaped(t, dashboardFile), recordedNames(t)
	for _, wrong := range names.wrongIn(text) {
		t.Errorf("there is no %s", wrong)
	}
	if len(names.families) < 10 {
		t.Errorf("got the metrics %q, want more: they are not recorded", slices.Sorted(maps.Keys(names.families)))
	}
	for family, series := range names.families {
		if !slices.ContainsFunc(series, func(metric string) bool { return strings.Contains(text, metric+"{") }) {
			t.Errorf("the dashboard does not show %s", family)
		}
	}
}

// TestAlerts: every metric, label and value in the rules exists.
func TestAlerts(t *testing.T) {
	text := readUnescaped(t, alertsFile)
	for _, wrong := range recordedNames(t).wrongIn(text) {
		t.Errorf("there is no %s", wrong)
	}
	if n := strings.Count(text, "expr:"); n < 9 {
		t.Errorf("got %d rules, want at least 9", n)
	}
}

// TestMistakes: a name that does not exist is found anywhere in the dashboard and in the rules.
func TestMistakes(t *testing.T) {
	names := recordedNames(t)
	for _, mistake := range []struct{ file, before, after, want string }{
		{dashboardFile, "cardgateway_client_unknown_outcomes_total{", "cardgateway_client_unknown_outcome_total{", "metric cardgateway_client_unknown_outcome_total"},
		{dashboardFile, "(cardgateway_client_call_duration_seconds_count,", "(calls,", "metric calls"},
		{dashboardFile, "_count, server_address)", "_count, server)", "label server"},
		{dashboardFile, "by (cardgateway_journal_state)", "by (state)", "label state"},
		{dashboardFile, "error_type!=", "error_kind!=", "label error_kind"},
		{dashboardFile, "{{cardgateway_outcome}}", "{{outcome}}", "label outcome"},
		{dashboardFile, "approved|processing|declined", "approved|processing|refuse", "cardgateway_outcome refuse"},
		{dashboardFile, "$server", "$gateway", "variable gateway"},
		{alertsFile, "_unreadable{", "_unread{", "metric cardgateway_journal_unread"},
	} {
		t.Run(mistake.want, func(t *testing.T) {
			text := readUnescaped(t, mistake.file)
			changed := strings.Replace(text, mistake.before, mistake.after, 1)
			if got := names.wrongIn(changed); changed == text || !slices.Equal(got, []string{mistake.want}) {
				t.Errorf("%s instead of %s: got %q, want %q", mistake.after, mistake.before, got, mistake.want)
			}
		})
	}
}

// readUnescaped returns a file with the quotation marks of expressions within JSON.
func readUnescaped(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), `\"`, `"`)
}

// promNames holds the names that Prometheus uses for what is recorded.
type promNames struct {
	metrics, labels map[string]bool
	families        map[string][]string // the metrics of which each is a part
	values          map[string][]string // of a label
}

// recordedNames makes calls and returns the names of what they record.
func recordedNames(t *testing.T) promNames {
	t.Helper()
	b := newBench(t)
	b.gateway.Inject(sandbox.Fault{Status: 503, Reply: sandbox.ReplyHTML})
	_ = b.pay(t.Context(), "t-1") // unknown
	observeJournal, err1 := otel.ObserveJournal(b.Options)
	observeNotifications, err2 := otel.ObserveNotifications(b.Options)
	must(t, errors.Join(err1, err2))
	observeJournal(t.Context(), journal.RecoverInfo{Complete: true})
	observeNotifications(t.Context(), notify.Info{Status: http.StatusOK})
	names := promNames{metrics: map[string]bool{}, labels: map[string]bool{"le": true}, families: map[string][]string{}, values: knownValues()}
	for _, p := range b.points(t) {
		name := strings.ReplaceAll(p.Name, ".", "_")
		if p.Unit == "s" { // a unit in braces is left out
			name += "_seconds"
		}
		suffixes := []string{""} // of a gauge
		switch p.Data.(type) {
		case metricdata.Histogram[float64]:
			suffixes = []string{"_bucket", "_count", "_sum"}
		case metricdata.Sum[int64]:
			suffixes = []string{"_total"}
		}
		for _, suffix := range suffixes {
			names.metrics[name+suffix] = true
			names.families[name] = append(names.families[name], name+suffix)
		}
		for _, a := range p.attributes {
			names.labels[strings.ReplaceAll(string(a.Key), ".", "_")] = true
		}
	}
	return names
}

// knownValues returns the possible values of the labels with few values.
func knownValues() map[string][]string {
	operations := slices.Collect(maps.Keys(operations()))
	client := reflect.TypeFor[*cardgateway.Client]()
	for i := range client.NumMethod() { // walks are also named after their methods
		operations = append(operations, client.Method(i).Name)
	}
	var outcomes []string
	for _, outcome := range []cardgateway.Outcome{
		cardgateway.OutcomeOK, cardgateway.OutcomeApproved, cardgateway.OutcomeProcessing, cardgateway.OutcomeRedirect,
		cardgateway.OutcomeDeclined, cardgateway.OutcomeRefused, cardgateway.OutcomeNotSent, cardgateway.OutcomeUnknown,
		cardgateway.OutcomeConflict, cardgateway.OutcomeNotFound, cardgateway.OutcomeFailed, cardgateway.OutcomeUnsettled,
		cardgateway.OutcomeCanceled, cardgateway.OutcomeInvalid, cardgateway.OutcomeTest,
	} {
		outcomes = append(outcomes, string(outcome))
	}
	return map[string][]string{
		"cardgateway_operation": operations, "cardgateway_outcome": outcomes,
		"cardgateway_journal_state":       {"unknown", "pending", "presumed_absent", "refused", "conflict", "settled"},
		"cardgateway_notification_result": {"handled", "repeated", "throttled", "failed", "rejected"},
	}
}

var (
	metricPattern   = regexp.MustCompile(`\b(\w+)\{[^{]|\blabel_values\((\w+),`)
	matcherPattern  = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"([^"]*)"`)
	labelPattern    = regexp.MustCompile(`\bby \(([^)]*)\)|\{\{(\w+)\}\}|\blabel_values\(\w+, (\w+)\)`)
	variablePattern = regexp.MustCompile(`\$\{?(\w+)`)
	declaredPattern = regexp.MustCompile(`"name": "(\w+)"`)
)

// wrongIn returns what a dashboard or rules name and does not exist.
func (n promNames) wrongIn(text string) (wrong []string) {
	want := func(kind, name string, exists bool) {
		if what := kind + " " + name; !exists && !slices.Contains(wrong, what) {
			wrong = append(wrong, what)
		}
	}
	for _, found := range metricPattern.FindAllStringSubmatch(text, -1) {
		metric := found[1] + found[2]
		want("metric", metric, n.metrics[metric])
	}
	for _, found := range labelPattern.FindAllStringSubmatch(text, -1) {
		for label := range strings.SplitSeq(found[1]+found[2]+found[3], ", ") {
			want("label", label, n.labels[label])
		}
	}
	for _, found := range matcherPattern.FindAllStringSubmatch(text, -1) {
		want("label", found[1], n.labels[found[1]])
		known, few := n.values[found[1]]
		for alternative := range strings.SplitSeq(found[2], "|") {
			want(found[1], alternative, !few || slices.ContainsFunc(known, regexp.MustCompile("^("+alternative+")$").MatchString))
		}
	}
	variables := map[string]bool{"__range": true, "__rate_interval": true, "__all": true} // Grafana's own
	for _, found := range declaredPattern.FindAllStringSubmatch(text, -1) {
		variables[found[1]] = true
	}
	for _, found := range variablePattern.FindAllStringSubmatch(text, -1) {
		want("variable", found[1], variables[found[1]])
	}
	return wrong
}
