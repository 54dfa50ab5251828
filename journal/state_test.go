package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
)

// piece returns evidence as the journal records it. A success or a decline has the gateway's transaction with this id.
func piece(source Source, state State, sender, uniqueID string) Evidence {
	ev := Evidence{Source: source, State: state, Sender: sender}
	if state >= Pending {
		code := map[State]cardgateway.Code{Pending: 102, Declined: 101, Succeeded: 100}[state]
		ev.Transaction = &cardgateway.Transaction{Code: code, UniqueID: uniqueID}
	}
	if source == SourceSubmission {
		ev.Submission = &Intent{Sender: sender}
	}
	return ev
}

func TestState(t *testing.T) {
	answer := func(s State, id string) Evidence { return piece(SourceAnswer, s, "1", id) }
	query := func(s State, id string) Evidence { return piece(SourceQuery, s, "", id) }
	again := piece(SourceSubmission, Unknown, "2", "")
	at := func(ev Evidence, minute int) Evidence {
		ev.Transaction.TransactionAt, _ = cardgateway.ParseWallTime(fmt.Sprintf("2026-01-01 00:%02d:00", minute))
		return ev
	}
	second := func(s State, id string) Evidence { return piece(SourceAnswer, s, "2", id) }
	shown := Evidence{Source: SourceQuery, Seen: true}
	for name, c := range map[string]struct {
		evidence []Evidence
		state    State
	}{
		"begun":                           {nil, Unknown},
		"unknown":                         {[]Evidence{answer(Unknown, "")}, Unknown},
		"paid":                            {[]Evidence{answer(Succeeded, "1")}, Succeeded},
		"paid, twice the same":            {[]Evidence{answer(Succeeded, "1"), query(Succeeded, "1")}, Succeeded},
		"two successes":                   {[]Evidence{answer(Succeeded, "1"), query(Succeeded, "2")}, Conflicting},
		"success after a decline":         {[]Evidence{answer(Declined, "1"), query(Succeeded, "2")}, Conflicting},
		"decline after a success":         {[]Evidence{query(Succeeded, "2"), answer(Declined, "1")}, Conflicting},
		"success after not sent":          {[]Evidence{answer(NotSent, ""), query(Succeeded, "1")}, Conflicting},
		"not sent after success":          {[]Evidence{query(Succeeded, "1"), answer(NotSent, "")}, Conflicting},
		"success after a refusal":         {[]Evidence{answer(Refused, ""), query(Succeeded, "1")}, Conflicting},
		"success after absence":           {[]Evidence{query(PresumedAbsent, ""), query(Succeeded, "1")}, Conflicting},
		"pending after absence":           {[]Evidence{query(PresumedAbsent, ""), query(Pending, "1")}, Pending},
		"absence, pending, success":       {[]Evidence{query(PresumedAbsent, ""), query(Pending, "1"), query(Succeeded, "1")}, Conflicting},
		"pending, success":                {[]Evidence{answer(Pending, "1"), query(Succeeded, "1")}, Succeeded},
		"abandoned after success":         {[]Evidence{query(Succeeded, "1"), {Source: SourceQuery, State: Abandoned}}, Succeeded},
		"abandoned after a decline":       {[]Evidence{query(Declined, "1"), {Source: SourceQuery, State: Abandoned}}, Declined},
		"pending is not lost":             {[]Evidence{answer(Pending, "1"), query(PresumedAbsent, "")}, Pending},
		"decline is not lost":             {[]Evidence{answer(Declined, "1"), query(Pending, "1")}, Declined},
		"not sent, again":                 {[]Evidence{answer(NotSent, ""), again}, Unknown},
		"not sent, again, paid":           {[]Evidence{answer(NotSent, ""), again, second(Succeeded, "1")}, Succeeded},
		"absent, again, paid":             {[]Evidence{query(PresumedAbsent, ""), again, second(Succeeded, "1")}, Succeeded},
		"absent, again, both paid":        {[]Evidence{query(PresumedAbsent, ""), again, second(Succeeded, "2"), query(Succeeded, "1")}, Conflicting},
		"declined, again, paid":           {[]Evidence{answer(Declined, "1"), again, second(Succeeded, "2")}, Succeeded},
		"absent, again, not sent":         {[]Evidence{query(PresumedAbsent, ""), again, second(NotSent, "")}, PresumedAbsent},
		"absent, again, refused":          {[]Evidence{query(PresumedAbsent, ""), again, second(Refused, "")}, PresumedAbsent},
		"absent, again, refused, paid":    {[]Evidence{query(PresumedAbsent, ""), again, second(Refused, ""), query(Succeeded, "1")}, Conflicting},
		"absent, shown":                   {[]Evidence{query(PresumedAbsent, ""), shown}, Unknown},
		"absent, shown, paid":             {[]Evidence{query(PresumedAbsent, ""), shown, query(Succeeded, "1")}, Conflicting},
		"absent, again, shown, not sent":  {[]Evidence{query(PresumedAbsent, ""), again, shown, second(NotSent, "")}, Unknown},
		"the first's late word about it":  {[]Evidence{query(PresumedAbsent, ""), again, answer(NotSent, "")}, Unknown},
		"refused, again, not sent":        {[]Evidence{answer(Refused, ""), again, second(NotSent, "")}, Refused},
		"the second's uncertain decline":  {[]Evidence{query(PresumedAbsent, ""), again, second(Unknown, "")}, Unknown},
		"not sent, again, not sent again": {[]Evidence{answer(NotSent, ""), again, second(NotSent, "")}, NotSent},
		"two answers without ids":         {[]Evidence{at(answer(Succeeded, ""), 1), again, at(second(Succeeded, ""), 2)}, Conflicting},
	} {
		t.Run(name, func(t *testing.T) {
			e := Entry{Begun: Intent{Sender: "1"}, Evidence: c.evidence, Acked: -1}
			if got := e.State(); got != c.state {
				t.Errorf("state is %v, want %v", got, c.state)
			}
			if _, err := e.outcome(); (c.state == Conflicting) != errors.Is(err, cardgateway.ErrConflict) {
				t.Errorf("outcome is %v", err)
			}
		})
	}
}

// TestStateOfSubscriptions: what is about a cycle or more later than a success is a later charge, whichever became known first.
// The first charge is the outcome. Every order of the same evidence has the same result.
func TestStateOfSubscriptions(t *testing.T) {
	const hour, day = 1, 24
	charged := func(source Source, id string, hours int) Evidence {
		ev := piece(source, Succeeded, "1", id)
		at := time.Date(2026, 1, 1, hours, 0, 0, 0, time.UTC)
		ev.Transaction.TransactionAt, _ = cardgateway.ParseWallTime(at.Format(time.DateTime))
		return ev
	}
	answer := func(id string) Evidence { return charged(SourceAnswer, id, 0) }
	row := func(id string, hours int) Evidence { return charged(SourceQuery, id, hours) }
	timeless := piece(SourceQuery, Succeeded, "", "2")
	for _, tt := range []struct {
		name     string
		cycle    cardgateway.SubscriptionCycle
		evidence []Evidence
		state    State
		uniqueID string // of the outcome
	}{
		{"a later charge of no subscription", "", []Evidence{answer("1"), row("2", 7*day)}, Conflicting, ""},
		{"a later charge", cardgateway.CycleWeek, []Evidence{answer("1"), row("2", 7*day)}, Succeeded, "1"},
		{"many later charges", cardgateway.CycleWeek, []Evidence{answer("1"), row("2", 7*day), row("3", 14*day), row("4", 21*day)}, Succeeded, "1"},
		{"a little early", cardgateway.CycleWeek, []Evidence{answer("1"), row("2", 7*20*hour)}, Succeeded, "1"},
		{"too early", cardgateway.CycleWeek, []Evidence{answer("1"), row("2", 7*20*hour-1)}, Conflicting, ""},
		{"charged twice at first", cardgateway.CycleWeek, []Evidence{answer("1"), row("2", hour), row("3", 7*day)}, Conflicting, ""},
		{"a request that arrived a day late", cardgateway.CycleWeek, []Evidence{row("1", 0), row("2", 30*hour)}, Conflicting, ""},
		{"a later charge twice", cardgateway.CycleWeek, []Evidence{answer("1"), row("2", 7*day), row("3", 7*day+1)}, Conflicting, ""},
		{"a day later", cardgateway.CycleDay, []Evidence{answer("1"), row("2", day)}, Succeeded, "1"},
		{"twice a day", cardgateway.CycleDay, []Evidence{answer("1"), row("2", day), row("3", 43*hour)}, Conflicting, ""},
		{"an unknown cycle", "FORTNIGHT", []Evidence{answer("1"), row("2", 14*day)}, Succeeded, "1"},
		{"an answer without an id", cardgateway.CycleWeek, []Evidence{answer(""), row("2", 7*day), row("1", 0)}, Succeeded, "1"},
		{"an answer without an id, and a later charge", cardgateway.CycleWeek, []Evidence{answer(""), row("2", 7*day)}, Succeeded, ""},
		{"a charge without a time", cardgateway.CycleWeek, []Evidence{answer("1"), timeless}, Conflicting, ""},
		{"after a decline", cardgateway.CycleWeek, []Evidence{piece(SourceAnswer, Declined, "1", "1"), row("2", 7*day)}, Conflicting, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, order := range orders(len(tt.evidence)) {
				e := Entry{Begun: Intent{Sender: "1", SubscriptionCycle: tt.cycle}, Acked: -1}
				for _, i := range order {
					e.Evidence = append(e.Evidence, tt.evidence[i])
				}
				got, _ := e.outcome()
				if e.State() != tt.state || got.facts().id != tt.uniqueID {
					t.Errorf("in the order %v: got %v of %q, want %v of %q", order, e.State(), got.facts().id, tt.state, tt.uniqueID)
				}
			}
		})
	}
}

// TestStateOfTwoSubmissions: charges of a subscription that are as far apart as two submissions can be one of each.
func TestStateOfTwoSubmissions(t *testing.T) {
	const hour, day = time.Hour, 24 * time.Hour
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	charged := func(id string, after time.Duration) Evidence {
		ev := piece(SourceQuery, Succeeded, "", id)
		ev.Transaction.TransactionAt, _ = cardgateway.ParseWallTime(begun.Add(after).Format(time.DateTime))
		return ev
	}
	for _, tt := range []struct {
		name          string
		cycle         cardgateway.SubscriptionCycle
		again         time.Duration // after the first submission
		isSent        bool          // the second one
		first, second time.Duration // when the charges were made
		want          State
	}{
		{"as far apart as the submissions", cardgateway.CycleWeek, 6 * day, true, 0, 6 * day, Conflicting},
		{"nearly so", cardgateway.CycleWeek, 6 * day, true, hour, 6*day + 20*hour, Conflicting},
		{"both a cycle apart", cardgateway.CycleWeek, 7 * day, true, 0, 7 * day, Conflicting},
		{"a cycle after the first", cardgateway.CycleWeek, 6 * day, true, 0, 7 * day, Succeeded},
		{"a cycle after the second", cardgateway.CycleWeek, 6 * day, true, 6 * day, 13 * day, Succeeded},
		{"submitted again after a minute", cardgateway.CycleDay, time.Minute, true, 0, day, Succeeded},
		{"submitted again after a day", cardgateway.CycleDay, day, true, 0, day, Conflicting},
		{"the second was not sent", cardgateway.CycleWeek, 6 * day, false, 0, 6 * day, Succeeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			again := Intent{At: begun.Add(tt.again), Sender: "2", SubscriptionCycle: tt.cycle}
			e := Entry{Begun: Intent{At: begun, Sender: "1", SubscriptionCycle: tt.cycle}, Acked: -1, Evidence: []Evidence{
				{Source: SourceQuery, State: PresumedAbsent}, {Source: SourceSubmission, Submission: &again},
			}}
			if !tt.isSent {
				e.Evidence = append(e.Evidence, Evidence{Source: SourceAnswer, State: NotSent, Sender: "2"})
				e.Evidence[0] = Evidence{Source: SourceQuery, Seen: true}
			}
			for _, order := range [][]Evidence{{charged("1", tt.first), charged("2", tt.second)}, {charged("2", tt.second), charged("1", tt.first)}} {
				known := e
				known.Evidence = append(slices.Clone(e.Evidence), order...)
				if got := known.State(); got != tt.want {
					t.Errorf("%v first: got %v, want %v", order[0].Transaction.UniqueID, got, tt.want)
				}
			}
		})
	}
}

// orders returns every order of n things.
func orders(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, shorter := range orders(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return all
}

// TestSubmissions: there is a query from the time of each submission that may have been sent; submissions that are close
// together share the query from the first of them.
func TestSubmissions(t *testing.T) {
	const day = 24 * time.Hour
	begun := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	again := func(sender string, after time.Duration) Evidence {
		return Evidence{Source: SourceSubmission, Submission: &Intent{Sender: sender, At: begun.Add(after)}}
	}
	unsent := func(sender string) Evidence { return piece(SourceAnswer, NotSent, sender, "") }
	for name, c := range map[string]struct {
		evidence   []Evidence
		sent, asks []time.Duration // after the first submission
	}{
		"one":                       {nil, []time.Duration{0}, []time.Duration{0}},
		"one, unsent":               {[]Evidence{unsent("1")}, nil, []time.Duration{0}},
		"the first unsent":          {[]Evidence{unsent("1"), again("2", day)}, []time.Duration{day}, []time.Duration{day}},
		"all unsent":                {[]Evidence{unsent("1"), again("2", day), unsent("2")}, nil, []time.Duration{day}},
		"the second unsent":         {[]Evidence{again("2", day), unsent("2")}, []time.Duration{0}, []time.Duration{0}},
		"14 days apart":             {[]Evidence{again("2", 14*day)}, []time.Duration{0, 14 * day}, []time.Duration{0}},
		"more than 14 days apart":   {[]Evidence{again("2", 14*day+1)}, []time.Duration{0, 14*day + 1}, []time.Duration{0, 14*day + 1}},
		"three, each 10 days apart": {[]Evidence{again("2", 10*day), again("3", 20*day)}, []time.Duration{0, 10 * day, 20 * day}, []time.Duration{0, 20 * day}},
		"four, each 10 days apart": {
			[]Evidence{again("2", 10*day), again("3", 20*day), again("4", 30*day)},
			[]time.Duration{0, 10 * day, 20 * day, 30 * day}, []time.Duration{0, 20 * day},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := Entry{Begun: Intent{Sender: "1", At: begun}, Evidence: c.evidence}
			known := e.project()
			var sent, asks []time.Duration
			for _, s := range known.sent {
				sent = append(sent, s.at.Sub(begun))
			}
			for _, at := range known.queries() {
				asks = append(asks, at.Sub(begun))
			}
			if !slices.Equal(sent, c.sent) || !slices.Equal(asks, c.asks) {
				t.Errorf("sent %v, queried from %v; want %v and %v", sent, asks, c.sent, c.asks)
			}
			if first := known.sentAt.Sub(begun); first != asks[0] || known.once != (len(sent) < 2) {
				t.Errorf("first sent at %v, once: %t", first, known.once)
			}
		})
	}
}

// TestLatestRefusal: the later of two refusals is returned.
func TestLatestRefusal(t *testing.T) {
	first, second := piece(SourceAnswer, Refused, "1", ""), piece(SourceAnswer, Refused, "2", "")
	first.HTTPStatus, second.HTTPStatus = 401, 429
	e := Entry{Begun: Intent{Sender: "1"}, Evidence: []Evidence{first, piece(SourceSubmission, Unknown, "2", ""), second}}
	_, err := e.outcome()
	if refused, ok := errors.AsType[*cardgateway.RefusedError](err); !ok || refused.HTTPStatus != 429 {
		t.Errorf("got %v, want the refusal with 429", err)
	}
}

// TestConflictShowsAll: a conflict contains every final outcome that the gateway has returned.
func TestConflictShowsAll(t *testing.T) {
	e := Entry{Begun: Intent{Sender: "1"}, Evidence: []Evidence{piece(SourceAnswer, Declined, "1", "1"), piece(SourceQuery, Succeeded, "", "2")}}
	_, err := e.outcome()
	if conflict, ok := errors.AsType[*cardgateway.ConflictError](err); !ok || len(conflict.Transactions) != 2 {
		t.Errorf("got %v, want a decline and a success", err)
	}
}

// TestChangedBy: the result of a query is recorded only if it changes what is known.
func TestChangedBy(t *testing.T) {
	paid := func(id string) Evidence { return piece(SourceQuery, Succeeded, "", id) }
	attempt := piece(SourceQuery, Pending, "", "1") // code 102
	otherAttempt := piece(SourceQuery, Pending, "", "1")
	otherAttempt.Transaction.Code = 301
	seen := Evidence{Source: SourceQuery, Seen: true}
	for name, c := range map[string]struct {
		known []Evidence
		shown Evidence
		want  bool
	}{
		"the first success":         {nil, paid("1"), true},
		"the same success":          {[]Evidence{paid("1")}, paid("1"), false},
		"another success":           {[]Evidence{paid("1")}, paid("2"), true},
		"a third success":           {[]Evidence{paid("1"), paid("2")}, paid("3"), true},
		"an attempt":                {nil, attempt, true},
		"the same attempt":          {[]Evidence{attempt}, attempt, false},
		"an attempt that went on":   {[]Evidence{attempt}, otherAttempt, true},
		"pending after the success": {[]Evidence{paid("1")}, attempt, false},
		"seen":                      {nil, seen, true},
		"seen again":                {[]Evidence{seen}, seen, false},
	} {
		e := Entry{Begun: Intent{Sender: "1"}, Evidence: c.known}
		if got := e.project().changedBy(&c.shown, &e); got != c.want || len(e.Evidence) != len(c.known) {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

// TestInFlight: another process may still record an outcome until the latest submission has a response, whether or not
// earlier ones have.
func TestInFlight(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	again := Evidence{Source: SourceSubmission, Submission: &Intent{Sender: "2", At: at}}
	of := func(sender string) Evidence { return Evidence{Source: SourceAnswer, Sender: sender} }
	for name, c := range map[string]struct {
		evidence []Evidence
		want     bool
	}{
		"just submitted":                        {nil, true},
		"a response that is unclear":            {[]Evidence{of("1")}, false},
		"a response that is a decline":          {[]Evidence{piece(SourceAnswer, Declined, "1", "1")}, false},
		"only queried":                          {[]Evidence{{Source: SourceQuery, Seen: true}}, true},
		"submitted again":                       {[]Evidence{of("1"), again}, true},
		"submitted again, the first's response": {[]Evidence{again, of("1")}, true},
		"submitted again, and a response":       {[]Evidence{again, of("2")}, false},
		"a query with the submission's sender":  {[]Evidence{{Source: SourceQuery, Sender: "1", Seen: true}}, true},
	} {
		e := Entry{Begun: Intent{Sender: "1", At: at}, Evidence: c.evidence}
		if got := e.project().inFlight(at.Add(maxFlight - 1)); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
		if e.project().inFlight(at.Add(maxFlight)) {
			t.Errorf("%s: it stays in flight forever", name)
		}
	}
}

// TestTested: a success is one of a test if any form of it is marked, in every order, and the setting changes nothing but the name of
// the state.
func TestTested(t *testing.T) {
	const day = 24 * time.Hour
	begun := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	form := func(source Source, id string, isTest bool, after time.Duration) Evidence {
		ev := piece(source, Succeeded, "1", id)
		ev.Transaction.IsTest = isTest
		ev.Transaction.TransactionAt, _ = cardgateway.ParseWallTime(begun.Add(after).Format(time.DateTime))
		return ev
	}
	answer := func(id string, isTest bool) Evidence { return form(SourceAnswer, id, isTest, 0) }
	row := func(id string, isTest bool) Evidence { return form(SourceQuery, id, isTest, 0) }
	declined := piece(SourceQuery, Declined, "", "1")
	declined.Transaction.IsTest = true
	pending := piece(SourceAnswer, Pending, "1", "1")
	pending.Transaction.IsTest = true
	for name, tt := range map[string]struct {
		evidence []Evidence
		want     State
	}{
		"no mark":                     {[]Evidence{answer("1", false)}, Succeeded},
		"a marked answer":             {[]Evidence{answer("1", true)}, Tested},
		"a marked row":                {[]Evidence{row("1", true)}, Tested},
		"only the row is marked":      {[]Evidence{answer("1", false), row("1", true)}, Tested},
		"only one without id is":      {[]Evidence{answer("", true), row("1", false)}, Tested},
		"only its pending form is":    {[]Evidence{pending, row("1", false)}, Tested},
		"another pending one is":      {[]Evidence{pending, row("2", false)}, Succeeded},
		"a later charge is marked":    {[]Evidence{answer("1", false), form(SourceQuery, "2", true, 7*day)}, Succeeded},
		"a later one, without ids":    {[]Evidence{answer("", false), form(SourceQuery, "", true, 7*day)}, Succeeded},
		"the first charge is marked":  {[]Evidence{answer("1", true), form(SourceQuery, "2", false, 7*day)}, Tested},
		"two successes, one marked":   {[]Evidence{answer("1", false), row("2", true)}, Conflicting},
		"a marked decline":            {[]Evidence{declined}, Declined},
		"a marked decline, a success": {[]Evidence{declined, row("1", false)}, Conflicting},
	} {
		for _, backwards := range []bool{false, true} {
			evidence := slices.Clone(tt.evidence)
			if backwards {
				slices.Reverse(evidence)
			}
			e := Entry{Begun: Intent{Sender: "1", SubscriptionCycle: cardgateway.CycleWeek}, Acked: -1, Evidence: evidence}
			if got := e.State(); got != tt.want {
				t.Errorf("%s: got %v, want %v", name, got, tt.want)
			}
			if got := e.project().final(); got != (tt.want != Conflicting) {
				t.Errorf("%s: Run would acknowledge it: %v", name, got)
			}
			got, err := e.outcome()
			if test, ok := errors.AsType[*cardgateway.TestPaymentError](err); ok != (tt.want == Tested) || ok && (!test.Transaction.IsTest || got.transaction == nil) {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
			if tt.want <= Tested && StateOf(got.transaction, err) != tt.want {
				t.Errorf("%s: StateOf is %v", name, StateOf(got.transaction, err))
			}
			e.testPayments = true
			if want := map[bool]State{true: Succeeded, false: tt.want}[tt.want == Tested]; e.State() != want {
				t.Errorf("%s: in a test system got %v, want %v", name, e.State(), want)
			}
		}
	}
}

func TestCodec(t *testing.T) {
	for text, wrong := range map[string]any{
		`null`:                                   new(Evidence),
		`{"state":"unknown"}`:                    new(Evidence),
		`{"source":"rumour","state":"unknown"}`:  new(Evidence), // of a newer version: it could be another submission
		`{"source":"query","state":"paid"}`:      new(Evidence),
		`{"source":"query","state":"succeeded"}`: new(Evidence), // without a transaction
		`{"source":"query","state":"declined"}`:  new(Evidence),
		`{"source":"query","state":"tested","transaction":{"code":100,"amount":"1"}}`:   new(Evidence),
		`{"source":"query","state":"conflict","transaction":{"code":100,"amount":"1"}}`: new(Evidence),
		`{"source":"query","state":"pending"}`:                                          new(Evidence),
		`{"source":"query","transaction":{"amount":"x"},"state":"unknown"}`:             new(Evidence),
		`{"source":"query","refund":{"refundAmount":"x"},"state":"unknown"}`:            new(Evidence),
		`{"source":"submission","state":"unknown","submission":{"amount":"x"}}`:         new(Evidence),
		`{"source":"submission","state":"unknown"}`:                                     new(Evidence),
		`{"amount":"1e5x"}`: new(Intent),
		`{"amount":"100000000000000000000000000000000000"}`: new(Intent),
	} {
		if err := json.Unmarshal([]byte(text), wrong); err == nil {
			t.Errorf("%s was read as %+v", text, wrong)
		}
	}
	if err := json.Unmarshal([]byte(`{"source":"query","state":"succeeded","transaction":{"code":100,"amount":"1"}}`), new(Evidence)); err != nil {
		t.Errorf("a success: %v", err) // so that it is the state for which those above are not read
	}
	for length, readable := range map[int]bool{32: true, 33: false} { // of an amount
		if err := json.Unmarshal([]byte(`{"amount":"`+strings.Repeat("1", length)+`"}`), new(Intent)); (err == nil) != readable {
			t.Errorf("an amount of %d characters: %v", length, err)
		}
	}
	if _, err := json.Marshal(Evidence{State: 99}); err == nil {
		t.Error("a state without a name was written")
	}
}

// TestClock sets the computer's clock: the journal's clock does not jump with it.
func TestClock(t *testing.T) {
	c := clock{started: time.Now()}
	if d := time.Until(c.now()); d.Abs() > time.Second {
		t.Errorf("the clock is off by %v", d)
	}
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "http://127.0.0.1:1", AppID: "7"})
	if err != nil {
		t.Fatal(err)
	}
	j := New(client, NewMemoryStore(), Options{})
	j.clock.started = time.Now().Add(48 * time.Hour) // as on a computer whose clock was corrected since
	_, _ = j.submitOnce(t.Context(), &request{intent: Intent{ID: PaymentID("a"), At: time.Now()}, send: func(context.Context) (gatewayResult, error) {
		return gatewayResult{}, &cardgateway.OutcomeUnknownError{}
	}})
	_, _ = j.submit(t.Context(), &request{intent: Intent{ID: PaymentID("b")}, send: func(context.Context) (gatewayResult, error) {
		return gatewayResult{}, &cardgateway.OutcomeUnknownError{}
	}})
	for e, err := range j.store.Unacked(t.Context(), j.shop) {
		if d := time.Until(e.Begun.At); err != nil || d.Abs() > time.Minute || j.isOld(e.project()) {
			t.Errorf("a payment made now is dated %v from now (%v) and old: %t", d, err, j.isOld(e.project()))
		}
	}
	now, later := time.Unix(1, 0), time.Unix(2, 0)
	for _, got := range []time.Time{earlier(now, later), earlier(later, now), earlier(now, now)} {
		if !got.Equal(now) {
			t.Errorf("the earlier time is %v, want %v", got, now)
		}
	}
	if d := time.Until(c.earliest()); d.Abs() > time.Second {
		t.Errorf("the earliest time is off by %v", d)
	}
}

// TestSame: a payment or refund that differs in any value that the caller chooses is another one.
func TestSame(t *testing.T) {
	in := Intent{
		ID: PaymentID("a"), UniqueID: "1", OrderID: "o", Operation: opCheckout, Amount: decimal.New(1250, -2), Currency: "USD",
	}
	for name, change := range map[string]func(*Intent){
		"ID": func(in *Intent) { in.ID.Text = "x" }, "kind": func(in *Intent) { in.ID.Refund = true },
		"UniqueID": func(in *Intent) { in.UniqueID = "x" }, "OrderID": func(in *Intent) { in.OrderID = "x" },
		"Operation": func(in *Intent) { in.Operation = opTokenOrder }, "Amount": func(in *Intent) { in.Amount = decimal.New(1251, -2) },
		"Currency": func(in *Intent) { in.Currency = "EUR" },
	} {
		other := in
		if other.Amount, other.Sender, other.At = decimal.New(125, -1), "another", time.Now(); !in.same(&other) {
			t.Errorf("another call for it is not the same: %+v", other)
		}
		if change(&other); in.same(&other) {
			t.Errorf("another %s is the same", name)
		}
	}
}

// TestSecretsInAddresses: a token or a card number is found in every encoding that a URL can have.
func TestSecretsInAddresses(t *testing.T) {
	const token = "tk/9f8e+7d6c5b4a=x"
	s := secrets{token: cardgateway.NewToken(token), number: cardgateway.NewCardNumber("4111111111111111")}
	for text, want := range map[string]bool{
		"": false, "https://pay.example/3ds/17?x=%zz": false,
		"https://pay.example/" + token:                                                      true,
		"https://pay.example/" + url.PathEscape(token):                                      true,
		"https://pay.example/?t=" + url.QueryEscape(token):                                  true,
		"https://pay.example/?t=" + strings.ToLower(url.QueryEscape(token)):                 true,
		"https://pay.example/?t=" + url.QueryEscape(token) + "&x=%zz":                       true,
		"https://pay.example/?t=" + url.QueryEscape(url.QueryEscape(token)):                 true,
		"https://pay.example/4111/1111/1111/1111":                                           true,
		"https://pay.example/?n=" + url.QueryEscape(url.QueryEscape("4111 1111,1111-1111")): true,
	} {
		if got := s.foundIn(text); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}

// TestCodeInAddresses: a verification code is found as a separate number, and not within another number.
func TestCodeInAddresses(t *testing.T) {
	s := secrets{code: cardgateway.NewCVV("190")}
	for text, want := range map[string]bool{
		"": false, "https://pay.example/3ds/17": false, "x=190": true, "190": true, "/190/x": true, "x=1900": false, "x=1 90": false, "x=2190": false,
		"x=%31%39%30": true, "x=%190": false,
	} {
		if got := s.foundIn(text); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
	if none := (secrets{}); none.foundIn("x=190") {
		t.Error("a secret is found where there is none")
	}
}
