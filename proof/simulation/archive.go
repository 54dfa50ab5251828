package simulation

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Archive is what a gateway has of the time before the world began: more rows than a merchant's life makes. Only walks read
// it, and it changes only while a walk reads it, as Walk.Arrive and Walk.Vanish say.
type Archive struct {
	Rows        int // of orders, and as many of refunds; zero: no archive
	Span        time.Duration
	Bursts      int  // every n-th row begins a burst, which ends with the next one; zero: none
	PageSize    int  // zero: 999
	Capped      bool // totals are at most the size of a page
	Ties        bool // rows of one second are in another order in every answer
	OldestFirst bool
	Exclusive   bool // the bounds of a query
}

// archive is the archive of one gateway.
type archive struct {
	config   Archive
	location *time.Location
	lists    [2]pastRows // orders, refunds
}

// pastRows is a list of rows of an archive.
type pastRows struct {
	mu       sync.Mutex
	isRefund bool
	rows     []*pastRow // in the order of time, those that are gone too
	random   *draw
	queries  int
	tell     func(format string, args ...any)

	// While a walk reads it:
	isRead   bool
	config   Walk
	complete func() time.Time // up to where the walk says that it is complete
	arrived  int              // and vanished
}

// pastRow is one row.
type pastRow struct {
	id   string
	at   time.Time // in whole seconds
	made time.Time // of a refund; its at is the time of the request
	gone bool

	// late says that the row has come while a walk was reading, perhaps too late for it and for those that continue at the checkpoint; see
	// isSeen and isCounted. missable says that it came where the walk was complete already.
	late, missable bool
	reader         time.Time // where the query began with which the row came, behind it
}

// archiveEnd is when every archive ends: so long before the world began that no other query reaches it.
var archiveEnd = time.Date(1999, 11, 1, 0, 0, 0, 0, time.UTC)

func (w *world) newArchive(config Archive, location *time.Location, seed uint64) *archive {
	config.Span = max(config.Span, time.Minute)
	a := &archive{config: config, location: location}
	for kind := range a.lists {
		l := &a.lists[kind]
		l.isRefund, l.random, l.tell = kind == 1, newDraw(mix(seed, uint64(kind))), w.tell
		var at time.Time
		for i := range config.Rows {
			if config.Bursts == 0 || i%(2*config.Bursts) < config.Bursts || at.IsZero() {
				at = archiveEnd.Add(-time.Duration(l.random.Int64N(int64(config.Span))))
			} else {
				at = at.Add(-time.Duration(l.random.IntN(3)) * time.Second) // close to the one before
			}
			if !at.Before(a.start()) {
				l.add(at.Truncate(time.Second))
			}
		}
	}
	return a
}

// start is when the archive begins.
func (a *archive) start() time.Time { return archiveEnd.Add(-a.config.Span).Truncate(time.Second) }

// add adds a row.
func (l *pastRows) add(at time.Time) *pastRow {
	r := &pastRow{id: strconv.Itoa(7_000_000 + len(l.rows)), at: at}
	if l.isRefund {
		r.made = at.Add(l.random.between(time.Second, 10*day)).Truncate(time.Second)
	}
	i, _ := slices.BinarySearchFunc(l.rows, at, func(r *pastRow, at time.Time) int { return r.at.Compare(at) })
	l.rows = slices.Insert(l.rows, i, r)
	return r
}

// begin is called when a walk begins to read. What is there then must be found by a walk that is not resumed.
func (l *pastRows) begin(config Walk, resumed bool, complete func() time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isRead, l.config, l.complete, l.arrived = true, config, complete, 0
	for _, r := range l.rows {
		if !resumed {
			r.late, r.missable, r.reader = false, false, time.Time{}
		}
	}
}

// end is called when a walk no longer reads.
func (l *pastRows) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isRead, l.config, l.complete = false, Walk{}, nil
}

// isSeen is called for each row that a query covers: then the walk must notice it.
func (r *pastRow) isSeen(from, to time.Time) {
	if r.at.After(from) && r.at.Before(to) {
		r.late = false
	}
}

// isCounted is called when a walk says that it is complete up to a time. It says so first of the end of a month that it has
// counted. If that is beyond the place where it was reading when a row came behind it in this month, then the month had not been
// counted then, and the walk must notice the row.
func (l *pastRows) isCounted(upTo time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.rows {
		if r.reader.IsZero() || !upTo.After(r.at) {
			continue
		}
		if upTo.After(r.reader.Add(2 * time.Second)) {
			r.late = false
		}
		r.reader = time.Time{}
	}
}

// missing returns a row that a walk which is complete up to a time must have given, and that is not stored.
func (l *pastRows) missing(upTo time.Time, stored map[string]int64) *pastRow {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.rows {
		if _, ok := stored[r.id]; !ok && !r.gone && !r.late && !r.missable && r.at.Before(upTo) {
			return r
		}
	}
	return nil
}

func (a *archive) list(refunds bool) *pastRows {
	if refunds {
		return &a.lists[1]
	}
	return &a.lists[0]
}

// maxArrivals is how many rows come during one walk: with more, it need not come to its end.
const maxArrivals = 6

// change changes the list before a query is answered.
//
// A row that vanishes and another one that comes must not make up for each other: no walk can notice that. So a row vanishes
// only from a window of several pages between two of them, and an archive has either the one or the other.
func (l *pastRows) change(from, to time.Time, page int, several bool) {
	l.queries++
	inside := func(r *pastRow) bool {
		return r.at.After(from.Add(3*time.Second)) && r.at.Before(to.Add(-3*time.Second))
	}
	switch c := l.config; {
	case c.Vanish > 0 && page > 1 && several && l.queries%c.Vanish == 0 && l.arrived < maxArrivals:
		shown := slices.DeleteFunc(slices.Clone(l.rows), func(r *pastRow) bool { return r.gone || !inside(r) })
		if len(shown) > 0 {
			r := one(l.random, shown...)
			r.gone = true
			l.arrived++
			l.tell("row %s of the archive, of %v, vanishes before page %d of %v to %v", r.id, r.at, page, from, to)
		}
	case c.Arrive > 0 && l.queries%c.Arrive == 0 && l.arrived < maxArrivals && len(l.rows) > 0:
		// Somewhere behind the reader.
		at := to.Add(-2*time.Second - l.random.between(time.Second, max(to.Sub(l.rows[0].at), 2*time.Second))).Truncate(time.Second)
		if at.Before(l.rows[0].at) {
			return
		}
		r := l.add(at)
		r.late = true
		l.tell("row %s of the archive, of %v, appears before page %d of %v to %v", r.id, r.at, page, from, to)
		r.missable = at.Before(l.complete())
		if at.Before(from) {
			r.reader = from
		}
		l.arrived++
	}
}

// serve answers a walk's query.
func (a *archive) serve(in *request) (_ answer, ok bool) {
	if a == nil || in.method != http.MethodGet {
		return answer{}, false
	}
	u, err := url.Parse(in.url)
	if err != nil {
		return answer{}, false
	}
	q := u.Query()
	from, failed := time.ParseInLocation(time.DateTime, q.Get("startDate"), a.location)
	to, err := time.ParseInLocation(time.DateTime, q.Get("endingDate"), a.location)
	if failed != nil || err != nil || to.After(archiveEnd.Add(day)) {
		return answer{}, false
	}
	number := func(name string, otherwise int) int {
		n, _ := strconv.Atoi(q.Get(name))
		return cmp.Or(n, otherwise)
	}
	page, size := number("currPage", 1), min(number("pageSize", 10), cmp.Or(a.config.PageSize, 999))
	l := a.list(strings.HasSuffix(u.Path, "/refund"))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.change(from, to, page, len(a.found(l, from, to)) > size)
	found := a.found(l, from, to)
	total := len(found)
	if a.config.Capped {
		total = min(total, size)
	}
	data := make([]any, 0, size)
	for _, r := range found[min((page-1)*size, len(found)):min(page*size, len(found))] {
		data = append(data, r.members(a.location))
	}
	body := members{
		"code": 121, "message": "Search success", "currPage": page, "pageSize": size, "totalCount": total, "totalPage": (total + size - 1) / size,
		"data": data,
	}
	return answer{status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, body: body.encode()}, true
}

// found returns the rows of a range in the order of the answer.
func (a *archive) found(l *pastRows, from, to time.Time) (found []*pastRow) {
	if a.config.Exclusive {
		from, to = from.Add(time.Second), to.Add(-time.Second)
	}
	for _, r := range l.rows {
		if r.gone || r.at.Before(from) || r.at.After(to) {
			continue
		}
		r.isSeen(from, to)
		found = append(found, r)
	}
	tie := func(r *pastRow) uint64 {
		if a.config.Ties {
			return mix(uint64(l.queries), uint64(len(r.id))+uint64(r.id[len(r.id)-1])*7)
		}
		return 0
	}
	slices.SortStableFunc(found, func(x, y *pastRow) int {
		order := x.at.Compare(y.at)
		if !a.config.OldestFirst {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(tie(x), tie(y)))
	})
	return found
}

// members returns a row as the interface has it.
func (r *pastRow) members(l *time.Location) members {
	at := r.at.In(l).Format(time.DateTime)
	if !r.made.IsZero() {
		return members{
			"code": 111, "message": "Refund success", "merchantRefundId": "past-" + r.id, "uniqueId": "6" + r.id, "refundUniqueId": r.id,
			"refundCurrency": "USD", "refundAmount": "1.00", "refundRequestAt": at, "refundAt": r.made.In(l).Format(time.DateTime),
		}
	}
	return members{
		"code": 100, "message": "Success", "transactionId": "past-" + r.id, "uniqueId": r.id, "transactionCurrency": "USD",
		"transactionAmount": "1.00", "transactionAt": at,
	}
}
