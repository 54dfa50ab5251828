package match

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	gocmp "github.com/google/go-cmp/cmp"
)

// signedShop is a shop that compares August, September and October, each on the 4th of the next month with a list of exactly the month,
// while the gateway changes rows.
type signedShop struct {
	random *rand.Rand
	rows   [3][2][]books.Row  // what the copy has at each comparison: payments and refunds
	lists  [3][2][]books.Line // of each month
	told   [3][]string        // what each comparison has to tell
	n      int
}

var signedMonths = [3]time.Month{8, 9, 10}

// at returns a time in a month, not near its ends.
func (s *signedShop) at(month int) time.Time {
	return day0(signedMonths[month], 5+s.random.IntN(20), s.random.IntN(24)).Add(time.Duration(s.random.IntN(3600)) * time.Second)
}

// refund returns a whole refund of a payment of August that both sides have.
func (s *signedShop) refund() books.Row {
	paid, r := s.row(s.at(0)), s.row(s.at(0))
	r.Payment, r.Amount, r.Currency = paid.UniqueID, paid.Amount, paid.Currency
	s.copied(0, paid, 0)
	s.listed(0, 0, paid, paid.At)
	return r
}

func (s *signedShop) row(at time.Time) books.Row {
	s.n++
	currency := []string{"EUR", "USD", "JPY"}[s.random.IntN(3)]
	return books.Row{UniqueID: fmt.Sprint("u", s.n), ID: fmt.Sprint("t", s.n), State: approved, Amount: money(fmt.Sprint(1 + s.random.IntN(500))), Currency: currency, At: at}
}

// copied adds a row to what the copy has from a comparison on. What follows are its states at the next ones.
func (s *signedShop) copied(kind int, r books.Row, from int, states ...string) {
	for i := from; i < 3; i++ {
		if i-from < len(states) {
			r.State = states[i-from]
		}
		s.rows[i][kind] = append(s.rows[i][kind], r)
	}
}

func (s *signedShop) listed(kind, month int, r books.Row, at time.Time) {
	l := books.Line{Line: len(s.lists[month][kind]) + 2, ID: r.ID, State: approved, Amount: r.Amount, Currency: r.Currency, At: at}
	s.lists[month][kind] = append(s.lists[month][kind], l)
}

func (s *signedShop) tells(month int, format string, args ...any) {
	s.told[month] = append(s.told[month], fmt.Sprintf(format, args...))
}

// tellsOf adds what each comparison tells of one id: "0 timing, 1 state since August".
func (s *signedShop) tellsOf(id, all string) {
	for told := range strings.SplitSeq(all, ", ") {
		if words := strings.Fields(told); len(words) > 0 {
			words = slices.Insert(words, 2, id)
			s.tells(int(told[0]-'0'), "%s", strings.Join(words[1:], " "))
		}
	}
}

// signedKind is a payment or a refund of August that falls between months, or changes a month that was compared.
type signedKind struct {
	name     string
	isRefund bool
	states   string // at the three comparisons, the last one as long as nothing else is said; - if the copy does not have it
	listed   []int  // the months in whose lists it is, in the first at its own time
	told     string // what each comparison tells of it

	// change changes what the copy has at the first comparison, or at the later ones. It may be nil.
	change func(s *signedShop, first, later *books.Row)
}

const sinceAugust = "1 changed since August, 2 changed since August"

var signedRows = []signedKind{
	{"in processing, approved in September, never listed",
		false, "processing approved", nil, "0 timing, 1 missing_here", nil},
	{"not completed, approved and listed in September", false, "redirect approved", []int{1}, "0 timing", nil},
	{"in processing in September, too, approved and listed in October",
		false, "processing processing approved", []int{2}, "0 timing, 1 timing since August", nil},
	{"in processing and listed as paid, approved in September",
		false, "processing approved", []int{0}, "0 timing, 1 timing", nil},
	{"in processing, declined in September", false, "processing declined", nil, "0 timing", nil},
	{"in processing and listed as paid, approved and listed again in September",
		false, "processing approved", []int{0, 1}, "0 timing, 1 listed_twice", nil},
	{"in processing, approved and listed in September, listed again in October",
		false, "processing approved", []int{1, 2}, "0 timing, 2 listed_twice", nil},
	{"in processing until October, listed in September, and again in October",
		false, "processing processing approved", []int{1, 2}, "0 timing, 1 timing, 1 timing since August, 2 listed_twice", nil},
	{"in processing, approved in September, declined in October, never listed",
		false, "processing approved declined", nil, "0 timing, 1 missing_here, 2 changed since September", nil},
	{"in processing, approved in September, listed in October",
		false, "processing approved", []int{2}, "0 timing, 1 missing_here, 2 timing", nil},
	{"in processing, approved and listed in September, declined in October",
		false, "processing approved declined", []int{1}, "0 timing, 2 changed since September", nil},
	{"unknown, redirected in September, approved in October",
		false, "unknown redirect approved", nil, "0 timing, 1 timing since August, 2 missing_here", nil},
	{"listed as paid and declined, approved in September",
		false, "declined approved", []int{0}, "0 state, 1 changed since August, 2 changed since August", nil},
	{"declined after August was compared", false, "approved declined", []int{0}, sinceAugust, nil},
	{"approved after it was declined", false, "declined declined approved", nil, "2 changed since August", nil},
	{"gone", false, "approved -", []int{0}, sinceAugust, nil},
	{"gone, and there again in October", false, "approved - approved", []int{0}, "1 changed since August", nil},
	{"late", false, "- approved", nil, sinceAugust, nil},
	{"late, and booked in September",
		false, "- approved", []int{1}, "1 changed since August, 1 timing, 2 changed since August", nil},
	{"late, booked in September, and again in October",
		false, "- approved", []int{1, 2}, "1 changed since August, 1 timing, 2 changed since August, 2 listed_twice", nil},
	{"late and in processing, approved in October", false, "- processing approved", nil, "2 changed since August", nil},
	{"ties out in August, listed again in September", false, "approved", []int{0, 1}, "1 listed_twice", nil},
	{"missing in August, booked in September", false, "approved", []int{1}, "0 missing_here, 1 timing", nil},
	{"missing in August, booked in September, and again in October", false, "approved", []int{1, 2}, "0 missing_here, 1 timing, 2 listed_twice", nil},
	{"refund in processing, made in September, never listed",
		true, "processing approved", nil, "0 timing, 1 refund_missing_here", nil},
	{"refund in processing, made and listed in September", true, "processing approved", []int{1}, "0 timing", nil},
	{"refund in processing and listed as made, made in October",
		true, "processing processing approved", []int{0}, "0 timing, 1 timing since August, 2 timing", nil},
	{"refund in processing and listed as made, made in September, listed again in October",
		true, "processing approved", []int{0, 2}, "0 timing, 1 timing, 2 listed_twice", nil},
	{"refund declined after August was compared", true, "approved declined", []int{0}, sinceAugust, nil},
	{"a test payment after August was compared",
		false, "approved", []int{0}, sinceAugust, func(_ *signedShop, _, later *books.Row) { later.Test = true }},
	{"another amount and currency", false, "approved", []int{0}, sinceAugust, func(_ *signedShop, _, later *books.Row) {
		later.Amount, later.Currency = later.Amount.Add(money("7")), map[string]string{"EUR": "USD", "USD": "EUR", "JPY": "JPY"}[later.Currency]
	}},
	{"another currency", false, "approved", []int{0}, sinceAugust, func(_ *signedShop, _, later *books.Row) {
		later.Currency = map[string]string{"EUR": "USD", "USD": "JPY", "JPY": "EUR"}[later.Currency]
	}},
	{"moved to September",
		false, "approved", []int{0}, "1 changed since August, 1 missing_here, 2 changed since August", func(s *signedShop, _, later *books.Row) { later.At = s.at(1) }},
	{"first without the gateway's id",
		false, "approved", []int{0}, "", func(_ *signedShop, first, _ *books.Row) { first.UniqueID = "" }},
	{"in processing without the gateway's id, approved with it and listed in September, listed again in October",
		false, "processing approved", []int{1, 2}, "0 timing, 2 listed_twice", func(_ *signedShop, first, _ *books.Row) { first.UniqueID = "" }},
	{"without a time", false, "approved", []int{0}, "", untimed},
	{"without a time, listed again in September", false, "approved", []int{0, 1}, "1 listed_twice", untimed},
	{"without a time, never listed", false, "approved", nil, "0 missing_here", untimed},
	{"without a time, declined after August was compared", false, "approved declined", []int{0}, sinceAugust, untimed},
	{"in processing without a time, approved and listed in September", false, "processing approved", []int{1}, "0 timing", untimed},
	{"refund without a time", true, "approved", []int{0}, "", untimed},
	{"first without a time",
		false, "approved", []int{0}, sinceAugust, func(_ *signedShop, first, _ *books.Row) { first.At = time.Time{} }},
	{"first without a time and the gateway's id", false, "approved", []int{0}, "", func(s *signedShop, first, later *books.Row) {
		untimed(s, first, later)
		first.UniqueID = ""
	}},
}

// signedLines are such payments whose lines are not as the payment.
var signedLines = []struct {
	signedKind
	line func(s *signedShop, month int, l *books.Line)
}{
	{signedKind{"in processing and listed as pending, declined in September", false, "processing declined", []int{0}, "0 timing, 1 state since August", nil},
		func(_ *signedShop, _ int, l *books.Line) { l.State = processing }},
	{signedKind{"in processing until October, listed in September without a time, declined", false, "processing processing declined", []int{1},
		"0 timing, 1 timing, 1 timing since August, 2 state since August", nil}, func(_ *signedShop, _ int, l *books.Line) { l.At = time.Time{} }},
	{signedKind{"in processing, approved in September with a time in October, to which the list reaches", false, "processing approved", []int{1}, "0 timing",
		func(_ *signedShop, _, later *books.Row) { later.At = day0(10, 2, 5) }}, func(_ *signedShop, _ int, l *books.Line) { l.At = day0(10, 2, 5) }},
	{signedKind{"wrong in August, listed rightly in September", false, "approved", []int{0, 1}, "0 amount, 1 listed_twice", nil},
		func(_ *signedShop, month int, l *books.Line) { l.Amount = l.Amount.Add(money(fmt.Sprint(1 - month))) }},
	{signedKind{"dated a month late", false, "approved", []int{0}, "0 date_differs, 1 timing", nil},
		func(s *signedShop, _ int, l *books.Line) { l.At = s.at(1) }},
	{signedKind{"of July, which was not compared", false, "approved", []int{0}, "0 date_differs",
		func(_ *signedShop, first, later *books.Row) { first.At, later.At = day0(7, 10, 0), day0(7, 10, 0) }}, nil},
}

func untimed(_ *signedShop, first, later *books.Row) { first.At, later.At = time.Time{}, time.Time{} }

// plant adds one payment or refund. Line may change its lines.
func (k *signedKind) plant(s *signedShop, line func(s *signedShop, month int, l *books.Line)) {
	r, kind := s.row(s.at(0)), 0
	if k.isRefund {
		r, kind = s.refund(), 1
	}
	first, later := r, r
	if k.change != nil {
		k.change(s, &first, &later)
	}
	states := strings.Fields(k.states)
	for i, row := range []books.Row{first, later, later} {
		if row.State = states[min(i, len(states)-1)]; row.State != "-" {
			s.rows[i][kind] = append(s.rows[i][kind], row)
		}
	}
	for _, month := range k.listed {
		at := r.At
		if month > 0 {
			at = s.at(month)
		}
		s.listed(kind, month, r, at)
		if line != nil {
			line(s, month, &s.lists[month][kind][len(s.lists[month][kind])-1])
		}
	}
	s.tellsOf(r.ID, k.told)
}

// signedAgain are payments of August with one line, and a second success or attempt with the same id.
var signedAgain = []struct {
	name                string
	first, listed, next time.Time
	states, nextStates  string // at the three comparisons
	told                string // what each comparison tells of it
}{
	{"two charges, of which the first is in processing until September, and one line", day0(8, 6, 5), day0(8, 6, 5), day0(8, 8, 5),
		"processing approved", "approved", "0 timing, 1 later_charge"},
	{"two charges, of which the second is in processing until September, and a line that is late", day0(8, 4, 5), day0(8, 27, 5), day0(8, 9, 5),
		"approved", "processing approved", "0 timing, 1 later_charge"},
	{"paid, and another attempt in processing, approved in September", day0(8, 6, 5), day0(8, 6, 5), day0(8, 6, 6),
		"approved", "processing approved", "0 timing, 1 two_successes"},
	{"paid, and another attempt in processing in September, too, approved in October", day0(8, 6, 5), day0(8, 6, 5), day0(8, 6, 6),
		"approved", "processing processing approved", "0 timing, 1 timing since August, 2 two_successes"},
	{"charged again in processing, approved in September, never listed", day0(8, 6, 5), day0(8, 6, 5), day0(8, 16, 5),
		"approved", "processing approved", "0 timing, 1 later_charge"},
}

// signedKinds are the others, and what agrees. Each adds one payment or refund.
var signedKinds = map[string]func(s *signedShop){
	"agrees": func(s *signedShop) {
		month := s.random.IntN(3)
		r := s.row(s.at(month))
		s.copied(0, r, month)
		s.listed(0, month, r, r.At)
	},
	"charged again, and that charge listed twice": func(s *signedShop) {
		r := s.row(s.at(0))
		s.copied(0, r, 0)
		s.listed(0, 0, r, r.At)
		r.UniqueID, r.At = r.UniqueID+"-2", s.at(1)
		s.copied(0, r, 1)
		s.listed(0, 1, r, r.At)
		s.listed(0, 1, r, r.At.Add(time.Hour))
		s.tells(1, "listed_twice %s", r.ID)
	},
	"charged again and listed, in processing until October": func(s *signedShop) {
		r := s.row(day0(8, 24, 5))
		s.copied(0, r, 0)
		s.listed(0, 0, r, r.At)
		r.UniqueID, r.At = r.UniqueID+"-2", day0(9, 5, 5)
		s.copied(0, r, 1, processing, approved)
		s.listed(0, 1, r, r.At)
		s.tellsOf(r.ID, "1 timing, 2 timing")
	},
	"two lines whose ids differ in case": func(s *signedShop) {
		r := s.row(s.at(1))
		s.copied(0, r, 1)
		s.listed(0, 1, r, r.At)
		r.ID = strings.ToUpper(r.ID)
		s.listed(0, 1, r, r.At)
		s.tells(1, "missing_there %s", r.ID)
	},
	"refunded more than paid, by a refund in processing until September": func(s *signedShop) {
		r := s.refund()
		s.copied(1, r, 0)
		s.listed(1, 0, r, r.At)
		r.UniqueID, r.ID = r.UniqueID+"-2", r.ID+"-2"
		s.copied(1, r, 0, processing, approved)
		s.listed(1, 1, r, s.at(1))
		s.tells(0, "timing %s", r.ID)
		s.tells(1, "refund_above_payment %s", strings.Replace(r.Payment, "u", "t", 1))
	},
	"refund in another currency, in processing until September": func(s *signedShop) {
		r := s.refund()
		r.Currency = map[string]string{"EUR": "USD", "USD": "JPY", "JPY": "EUR"}[r.Currency]
		s.copied(1, r, 0, processing, approved)
		s.listed(1, 1, r, s.at(1))
		s.tellsOf(r.ID, "0 timing, 1 currency")
	},
	"order paid twice, by a payment in processing until September": func(s *signedShop) {
		first, again := s.row(s.at(0)), s.row(s.at(0))
		again.Currency = first.Currency
		s.copied(0, first, 0)
		s.copied(0, again, 0, processing, approved)
		s.listed(0, 0, first, first.At)
		order := "o" + first.ID
		s.listed(0, 1, first, first.At) // the list reaches back
		s.lists[1][0][len(s.lists[1][0])-1].Order = order
		s.listed(0, 1, again, s.at(1))
		s.lists[1][0][len(s.lists[1][0])-1].Order = order
		s.tells(0, "timing %s", again.ID)
		s.tells(1, "paid_twice %s", order)
	},
}

// record records what sync does when it finds these rows instead of those.
func (d *database) record(t *testing.T, kind books.Kind, before, after []books.Row, complete time.Time, seen int64) {
	t.Helper()
	columns := func(r books.Row) map[string]string {
		at := "0"
		if !r.At.IsZero() {
			at = fmt.Sprint(r.At.UnixMicro())
		}
		if kind == books.Refund {
			return map[string]string{"refund_unique_id": r.UniqueID, "merchant_refund_id": r.ID, "unique_id": r.Payment, "state": r.State,
				"amount": r.Amount.String(), "currency": r.Currency, "at": at}
		}
		test := map[bool]string{false: "0", true: "1"}[r.Test]
		return map[string]string{"unique_id": r.UniqueID, "transaction_id": r.ID, "state": r.State, "amount": r.Amount.String(), "currency": r.Currency,
			"at": at, "test": test}
	}
	now, table := map[string]books.Row{}, map[books.Kind]string{books.Payment: "orders", books.Refund: "refunds"}[kind]
	change := func(id, what, old string) {
		if _, err := d.db.ExecContext(t.Context(), `INSERT INTO cardgateway_changes (kind, id, what, old, new, seen) VALUES ($1, $2, $3, $4, '', $5)`,
			table, id, what, old, seen); err != nil {
			t.Fatal(err)
		}
	}
	key := func(r books.Row) string { return cmp.Or(r.UniqueID, "transaction "+r.ID) }
	for _, r := range after {
		now[key(r)] = r
	}
	was := map[string]bool{}
	for _, r := range before {
		was[key(r)] = true
		n, isThere := now[key(r)]
		if !isThere {
			old, err := json.Marshal(columns(r))
			if err != nil {
				t.Fatal(err)
			}
			change(key(r), "gone", string(old))
			continue
		}
		for name, value := range columns(n) {
			if old := columns(r)[name]; old != value {
				change(key(r), name, old)
			}
		}
	}
	for _, r := range after {
		if !was[key(r)] && r.At.Before(complete) {
			change(key(r), "late", "")
		}
	}
}

// TestSignedMonths plants each of signedRows, signedAgain and signedKinds several times, and holds what every month tells, its totals, and those of the months before
// it against a second computation. With CARDGATEWAY_LONG=1 it is 100 of each among 10,000 payments.
func TestSignedMonths(t *testing.T) {
	each, payments := 4, 300
	if os.Getenv("CARDGATEWAY_LONG") == "1" {
		each, payments = 100, 10_000
	}
	onEach(t, func(t *testing.T, d *database) {
		s := &signedShop{random: rand.New(rand.NewPCG(42, 2026))}
		for range each {
			for i := range signedRows {
				signedRows[i].plant(s, nil)
			}
			for i := range signedLines {
				signedLines[i].plant(s, signedLines[i].line)
			}
			for _, k := range signedAgain {
				r := s.row(k.first)
				s.copied(0, r, 0, strings.Fields(k.states)...)
				s.listed(0, 0, r, k.listed)
				r.UniqueID, r.At = r.UniqueID+"-2", k.next
				s.copied(0, r, 0, strings.Fields(k.nextStates)...)
				s.tellsOf(r.ID, k.told)
			}
			for _, kind := range slices.Sorted(maps.Keys(signedKinds)) {
				signedKinds[kind](s)
			}
		}
		for s.n < payments {
			signedKinds["agrees"](s)
		}
		signed := map[string]int64{} // totals when a month was compared
		for i := range s.rows {
			if i > 0 {
				for kind, name := range []books.Kind{books.Payment, books.Refund} {
					d.record(t, name, s.rows[i-1][kind], s.rows[i][kind], day0(signedMonths[i], 4, 0), int64(i))
				}
			}
			for range 2 { // a repetition has the same result
				s.compare(t, d, i, signed)
			}
		}
	})
}

// compare compares a month.
func (s *signedShop) compare(t *testing.T, d *database, i int, signed map[string]int64) {
	t.Helper()
	m := &memory{orders: s.rows[i][0], refunds: s.rows[i][1], payments: s.lists[i][0], given: s.lists[i][1]}
	o := octoberOptions()
	month := signedMonths[i]
	o.Period = Span{day0(month, 1, 0), day0(month+1, 1, 0)}
	o.Month, o.Copy = o.Period, Span{day0(7, 1, 0), day0(month+1, 4, 0)}
	o.Now, o.Payments.Span, o.Refunds = o.Copy.To, o.Period, List{Read: true}
	var told []string
	o.Found = func(d *Difference) error {
		text := fmt.Sprintf("%s %s", d.Class, d.ID)
		if !d.Since.IsZero() {
			text += d.Since.Format(" since January")
		}
		told = append(told, text)
		return nil
	}
	_, summary := d.run(t, m, o)
	slices.Sort(told)
	want := slices.Sorted(slices.Values(s.told[i]))
	if diff := gocmp.Diff(want, told); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", month, diff)
	}
	counted := slices.DeleteFunc(want, func(text string) bool { return strings.HasPrefix(text, "timing") })
	if n := summary.Differences(); n != len(counted) {
		t.Errorf("%s: %d differences are counted, want %d", month, n, len(counted))
	}
	for _, b := range summary.Bridges {
		key := fmt.Sprintf("%s %s %s", month, b.Kind, b.Currency)
		signed[key] = b.Gateway.IntPart()
		if want := s.total(i, i, b.Kind, b.Currency); signed[key] != want {
			t.Errorf("%s: the gateway has %d, want %d", key, signed[key], want)
		}
		if want := s.listTotal(i, b.Kind, b.Currency); b.Books.IntPart() != want {
			t.Errorf("%s: the list has %v, want %d", key, b.Books, want)
		}
	}
	isTold := map[string]bool{}
	for _, c := range summary.ChangedTotals {
		of := slices.Index(signedMonths[:], c.Month.Month())
		key := fmt.Sprintf("%s %s %s", signedMonths[of], c.Kind, c.Currency)
		isTold[key] = true
		if now := s.total(of, i, c.Kind, c.Currency); c.Was.IntPart() != signed[key] || c.Now.IntPart() != now {
			t.Errorf("%s: told %s: from %v to %v, want from %d to %d", month, key, c.Was, c.Now, signed[key], now)
		}
	}
	for key, was := range signed {
		of := strings.Fields(key)
		n := slices.IndexFunc(signedMonths[:], func(m time.Month) bool { return m.String() == of[0] })
		if now := s.total(n, i, books.Kind(of[1]), of[2]); now != was && !isTold[key] {
			t.Errorf("%s: the total of %s is %d now, and was %d: it is not told", month, key, now, was)
		}
	}
}

// total adds up what counts in a month by what the copy has at a comparison: what was paid in it, except what was not final when it was
// compared, and what was not final when earlier months were compared and was when this one was.
func (s *signedShop) total(month, now int, kind books.Kind, currency string) (sum int64) {
	n := map[books.Kind]int{books.Payment: 0, books.Refund: 1}[kind]
	for _, r := range s.rows[now][n] {
		if r.State != approved || r.Currency != currency {
			continue
		}
		home := int(r.At.In(zone).Month()) - 8
		if r.At.IsZero() { // in the first month that is compared
			home = 0
		}
		for home >= 0 && home < now && slices.ContainsFunc(s.rows[home][n], func(was books.Row) bool {
			return (was.UniqueID == r.UniqueID || was.UniqueID == "" && was.ID == r.ID) && was.State != approved && was.State != declined
		}) {
			home++
		}
		if home == month {
			sum += r.Amount.IntPart()
		}
	}
	return sum
}

// listTotal adds up the lines of a month, also those of earlier lists.
func (s *signedShop) listTotal(month int, kind books.Kind, currency string) (sum int64) {
	for i := range month + 1 {
		for _, l := range s.lists[i][map[books.Kind]int{books.Payment: 0, books.Refund: 1}[kind]] {
			if (l.At.IsZero() && i == month || int(l.At.In(zone).Month())-8 == month) && l.Currency == currency && l.State == approved {
				sum += l.Amount.IntPart()
			}
		}
	}
	return sum
}
