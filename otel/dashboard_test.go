package otel_test

import (
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// dashboard is the part of a Grafana dashboard that this test needs.
type dashboard struct {
	Templating struct {
		List []struct {
			Name, Type string
			Definition string // shown in the list of variables
			Query      json.RawMessage
		}
	}
	Panels []panel
}

type panel struct {
	ID          int
	Type, Title string
	Description string
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct{ Expr, LegendFormat string }
}

// TestDashboard: every metric, label and value in the dashboard exists, and the dashboard shows every metric.
func TestDashboard(t *testing.T) {
	file, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	names := recordedNames(t)
	for _, wrong := range names.wrongIn(t, file) {
		t.Error(wrong)
	}
	for _, metric := range names.notIn(string(file)) {
		t.Errorf("the dashboard does not show %s", metric)
	}
}

// TestDashboardLacks: a metric without a panel is found.
func TestDashboardLacks(t *testing.T) {
	file, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	names := recordedNames(t)
	if len(names.families) < 10 {
		t.Errorf("got the metrics %q, want more: they are not recorded", slices.Sorted(maps.Keys(names.families)))
	}
	for family, series := range names.families {
		t.Run(family, func(t *testing.T) {
			without := string(file)
			for _, metric := range series {
				without = strings.ReplaceAll(without, metric+"{", "another{")
			}
			if diff := cmp.Diff([]string{family}, names.notIn(without)); diff != "" {
				t.Errorf("metrics that are not shown (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAlerts: every metric, label and value in the rules exists.
func TestAlerts(t *testing.T) {
	file, err := os.ReadFile("alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	names := recordedNames(t)
	wrongIn := func(text string) []string {
		var rules dashboard
		for _, rule := range regexp.MustCompile(`- alert: (\w+)\n(?: +#.*\n)? +expr: (.*)\n`).FindAllStringSubmatch(text, -1) {
			rules.Panels = append(rules.Panels, panel{Title: rule[1], Targets: []struct{ Expr, LegendFormat string }{{Expr: rule[2]}}})
		}
		if n := strings.Count(text, "expr:"); n < 9 || n != len(rules.Panels) {
			t.Fatalf("got %d rules of %d, want at least 9", len(rules.Panels), n)
		}
		panels, err := json.Marshal(rules)
		if err != nil {
			t.Fatal(err)
		}
		return names.wrongIn(t, panels)
	}
	for _, wrong := range wrongIn(string(file)) {
		t.Error(wrong)
	}
	for _, mistake := range []struct{ before, after string }{
		{"_unanswered{", "_unanswers{"}, {`journal_state="`, `state="`}, {`"conflict"`, `"conflicts"`}, {"throttled|", "throttle|"}, {"_unreadable{}", "_unreadable"},
	} {
		if changed := strings.Replace(string(file), mistake.before, mistake.after, 1); changed == string(file) || len(wrongIn(changed)) != 1 {
			t.Errorf("%s instead of %s: got %q, want one mistake", mistake.after, mistake.before, wrongIn(changed))
		}
	}
}

// notIn returns the metrics that no panel shows.
func (n promNames) notIn(file string) (missing []string) {
	for family, series := range n.families {
		if !slices.ContainsFunc(series, func(metric string) bool { return strings.Contains(file, metric+"{") }) {
			missing = append(missing, family)
		}
	}
	slices.Sort(missing)
	return missing
}

// TestDashboardMistakes: a name that does not exist is found anywhere in the dashboard.
func TestDashboardMistakes(t *testing.T) {
	file, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	names := recordedNames(t)
	for _, mistake := range []struct{ name, before, after, want string }{
		{"metric", "cardgateway_client_unknown_outcomes_total{", "cardgateway_client_unknown_outcome_total{", "no metric cardgateway_client_unknown_outcome_total"},
		{"metric of a variable", "(cardgateway_client_call_duration_seconds_count,", "(cardgateway_client_call_duration_count,",
			"no metric cardgateway_client_call_duration_count"},
		{"metric of the journal", "(cardgateway_journal_working{", "(cardgateway_journal_works{", "no metric cardgateway_journal_works"},
		{"label of the journal", "by (cardgateway_journal_state)", "by (state)", "no label state"},
		{"label", "error_type!=", "error_kind!=", "no label error_kind"},
		{"label of a sum", "by (le, cardgateway_operation)", "by (le, operation)", "no label operation"},
		{"label of a legend", "{{cardgateway_outcome}}", "{{outcome}}", "no label outcome"},
		{"outcome", "approved|processing|declined", "approved|processing|refuse", "no cardgateway_outcome refuse"},
		{"operation", "OrderWalk|RefundWalk", "OrderWalks|RefundWalk", "no cardgateway_operation OrderWalks"},
		{"variable", "$server", "$gateway", "no variable gateway"},
	} {
		t.Run(mistake.name, func(t *testing.T) {
			changed := strings.Replace(string(file), mistake.before, mistake.after, 1)
			if changed == string(file) {
				t.Fatalf("the dashboard does not have %s", mistake.before)
			}
			got := names.wrongIn(t, []byte(changed))
			if len(got) != 1 || !strings.HasSuffix(got[0], ": "+mistake.want) {
				t.Errorf("got %q, want %q", got, mistake.want)
			}
		})
	}
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
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	observeJournal(t.Context(), journal.RecoverInfo{Complete: true})
	observeNotifications(t.Context(), notify.Info{Status: http.StatusOK})
	names := promNames{metrics: map[string]bool{}, labels: map[string]bool{"le": true}, families: map[string][]string{}, values: knownValues()}
	add := func(family, suffix string) {
		names.metrics[family+suffix] = true
		names.families[family] = append(names.families[family], family+suffix)
	}
	addLabels := func(set attribute.Set) {
		for _, a := range set.ToSlice() {
			names.labels[strings.ReplaceAll(string(a.Key), ".", "_")] = true
		}
	}
	for _, scope := range b.metrics(t).ScopeMetrics {
		for _, m := range scope.Metrics {
			name := strings.ReplaceAll(m.Name, ".", "_")
			if m.Unit == "s" { // a unit in braces is left out
				name += "_seconds"
			}
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, suffix := range []string{"_bucket", "_count", "_sum"} {
					add(name, suffix)
				}
				for _, p := range data.DataPoints {
					addLabels(p.Attributes)
				}
			case metricdata.Sum[int64]:
				add(name, "_total")
				for _, p := range data.DataPoints {
					addLabels(p.Attributes)
				}
			case metricdata.Gauge[int64]:
				add(name, "")
				for _, p := range data.DataPoints {
					addLabels(p.Attributes)
				}
			case metricdata.Gauge[float64]:
				add(name, "")
			default:
				t.Fatalf("%s has data of type %T", m.Name, data)
			}
		}
	}
	return names
}

// knownValues returns the possible values of the labels with few values.
func knownValues() map[string][]string {
	operations := slices.Collect(maps.Keys(operations))
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
	selectorPattern  = regexp.MustCompile(`(\w+)\{([^}]*)\}`)
	matcherPattern   = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"`)
	groupPattern     = regexp.MustCompile(`\bby \(([^)]*)\)`)
	legendPattern    = regexp.MustCompile(`\{\{(\w+)\}\}`)
	variablePattern  = regexp.MustCompile(`\$\{?(\w+)`)
	labelListPattern = regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)
)

// wrongIn returns the names in a dashboard that do not exist. A mistake counts once per panel.
func (n promNames) wrongIn(t *testing.T, file []byte) (wrong []string) {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal(file, &d); err != nil {
		t.Fatal(err)
	}
	report := func(where, format string, args ...any) {
		if text := where + ": " + fmt.Sprintf(format, args...); !slices.Contains(wrong, text) {
			wrong = append(wrong, text)
		}
	}
	variables := map[string]bool{"__range": true, "__rate_interval": true} // Grafana's own
	for _, variable := range d.Templating.List {
		variables[variable.Name] = true
		if variable.Type != "query" {
			continue
		}
		where := "variable " + variable.Name
		var asked struct{ Query string }
		if err := json.Unmarshal(variable.Query, &asked); err != nil {
			report(where, "%v", err)
		}
		for _, list := range []string{variable.Definition, asked.Query} {
			switch parts := labelListPattern.FindStringSubmatch(list); {
			case parts == nil:
				report(where, "no list of values: %q", list)
			case !n.metrics[parts[1]]:
				report(where, "no metric %s", parts[1])
			case !n.labels[parts[2]]:
				report(where, "no label %s", parts[2])
			}
		}
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			selectors := selectorPattern.FindAllStringSubmatch(target.Expr, -1)
			if len(selectors) == 0 {
				report(p.Title, "no metric in %q", target.Expr)
			}
			labels := legendPattern.FindAllStringSubmatch(target.LegendFormat, -1)
			for _, selector := range selectors {
				if !n.metrics[selector[1]] {
					report(p.Title, "no metric %s", selector[1])
				}
				for _, matcher := range matcherPattern.FindAllStringSubmatch(selector[2], -1) {
					labels = append(labels, matcher)
					for _, unknown := range n.unknownValues(matcher[1], matcher[2]) {
						report(p.Title, "no %s %s", matcher[1], unknown)
					}
				}
			}
			for _, group := range groupPattern.FindAllStringSubmatch(target.Expr, -1) {
				for label := range strings.SplitSeq(group[1], ", ") {
					labels = append(labels, []string{"", label})
				}
			}
			for _, label := range labels {
				if !n.labels[label[1]] {
					report(p.Title, "no label %s", label[1])
				}
			}
			for _, variable := range variablePattern.FindAllStringSubmatch(target.Expr, -1) {
				if !variables[variable[1]] {
					report(p.Title, "no variable %s", variable[1])
				}
			}
		}
	}
	return wrong
}

// unknownValues returns the alternatives of a matcher that match no value that the label can have.
func (n promNames) unknownValues(label, matcher string) (unknown []string) {
	known, ok := n.values[label]
	if !ok {
		return nil
	}
	for alternative := range strings.SplitSeq(matcher, "|") {
		if !slices.ContainsFunc(known, regexp.MustCompile("^("+alternative+")$").MatchString) {
			unknown = append(unknown, alternative)
		}
	}
	return unknown
}

// TestDashboardLayout: panels have unique ids and titles and do not overlap.
func TestDashboardLayout(t *testing.T) {
	file, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(file, &d); err != nil {
		t.Fatal(err)
	}
	ids, titles, cells := map[int]bool{}, map[string]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if p.ID == 0 || ids[p.ID] || p.Title == "" || titles[p.Title] {
			t.Errorf("panel %d %q: want an id and a title of its own", p.ID, p.Title)
		}
		ids[p.ID], titles[p.Title] = true, true
		if (p.Type == "row") != (len(p.Targets) == 0) || p.Type != "row" && p.Description == "" {
			t.Errorf("%s: got %d queries and the description %q", p.Title, len(p.Targets), p.Description)
		}
		at := p.GridPos
		if at.W <= 0 || at.H <= 0 || at.X < 0 || at.X+at.W > 24 {
			t.Errorf("%s: got position %+v", p.Title, at)
		}
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other, taken := cells[[2]int{x, y}]; taken {
					t.Fatalf("%s lies on %s", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
	}
	width := map[int]int{}
	for cell := range cells {
		width[cell[1]]++
	}
	want := map[int]int{}
	for y := range len(width) {
		want[y] = 24
	}
	if diff := cmp.Diff(want, width); diff != "" {
		t.Errorf("cells in each line (-want +got):\n%s", diff)
	}
}
