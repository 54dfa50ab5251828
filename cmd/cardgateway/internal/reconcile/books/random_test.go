package books

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// TestRandomHistories updates books through random histories, and holds them against what the gateway shows: rows that come late, change,
// vanish and come back; runs that are interrupted or killed at any query; programs that start again; a clock that goes on by minutes or
// days. With CARDGATEWAY_LONG=1 there are many more.
func TestRandomHistories(t *testing.T) {
	seeds := map[string]uint64{"SQLite": 10, "Postgres": 2}
	if os.Getenv("CARDGATEWAY_LONG") == "1" {
		seeds = map[string]uint64{"SQLite": 3000, "Postgres": 500}
	}
	onEach(t, func(t *testing.T, db string) {
		n, kinds := seeds[path.Base(t.Name())], map[string]int{}
		for seed := range n {
			at := db
			if !isPostgres(db) {
				at = filepath.Join(t.TempDir(), "books.db")
			} else if seed > 0 {
				at = postgresURL(t)
			}
			h := newHistory(t, seed, at)
			for range 30 {
				h.step()
			}
			h.books(func(b *Books) {
				for _, c := range collect(t, b.changesSince(t.Context(), time.Time{})) {
					kinds[c.What]++
				}
			})
			for what, times := range h.did {
				kinds[what] += times
			}
		}
		for _, what := range []string{"late", "gone", "state", "complete", "interrupted", "killed"} {
			if kinds[what] < int(n)/10 && (what != "killed" || !isPostgres(db)) {
				t.Errorf("%s: %d in all, too few to show anything", what, kinds[what])
			}
		}
	})
}

func isPostgres(db string) bool { return strings.HasPrefix(db, "postgres") }

// history is a gateway, the books of its orders, and what is known of both.
type history struct {
	t    *testing.T
	r    *rand.Rand
	db   string
	seed uint64
	did  map[string]int

	mu     sync.Mutex // of what queries use: some are made at the same time
	now    time.Time  // of the program that updates the books; that of its client goes on by itself
	since  time.Time
	orders []*shownOrder
	shown  map[string]string // what this run was shown, by the gateway's id: code and time
	before func()            // each query, if not nil
	last   map[string]string // the books after the last run
	tried  time.Time         // when the last run began
	failed bool
	done   time.Time // up to where the books are complete
}

type shownOrder struct {
	unique string
	at     time.Time
	code   int
	hidden bool
}

func (o *shownOrder) String() string { return fmt.Sprint(o.code, " ", o.at.UnixMicro()) }

func newHistory(t *testing.T, seed uint64, db string) *history {
	now := time.Now().Truncate(time.Second)
	h := &history{t: t, r: rand.New(rand.NewPCG(seed, 2)), seed: seed, db: db, did: map[string]int{}, now: now, since: now.AddDate(0, 0, -70)}
	for range 100 + h.r.IntN(60) { // so many that a few of them may be gone
		h.order(h.since)
	}
	return h
}

// order adds an order at any time since one.
func (h *history) order(since time.Time) {
	span := time.Now().Add(-20 * time.Minute).Sub(since)
	codes := []int{100, 100, 101, 102}
	h.orders = append(h.orders, &shownOrder{
		unique: strconv.Itoa(1000 + len(h.orders)), at: since.Add(time.Duration(h.r.Int64N(int64(span)))).Truncate(time.Second), code: codes[h.r.IntN(4)],
	})
}

func (h *history) step() {
	some := h.orders[h.r.IntN(len(h.orders))]
	switch h.r.IntN(8) {
	case 0:
		h.order(time.Now().AddDate(0, 0, -1-h.r.IntN(40)))
	case 1:
		if some.code == 102 {
			some.code = 100 + h.r.IntN(2)
		}
	case 2:
		some.hidden = h.r.IntN(3) > 0
	case 3:
		h.now = h.now.Add(time.Duration(h.r.Int64N(int64(36 * time.Hour))))
	case 4:
		h.sync(1 + h.r.IntN(3))
	default:
		h.sync(0)
	}
}

// books opens the books, as a program does that starts.
func (h *history) books(use func(*Books)) {
	b, err := Open(context.Background(), h.db)
	if err != nil {
		h.t.Fatalf("seed %d: %v", h.seed, err)
	}
	use(b)
	if err := b.Close(); err != nil {
		h.t.Fatalf("seed %d: %v", h.seed, err)
	}
}

// sync updates the books once. It ends at the query of this number, if that is not zero: by its context, or as if the process were
// killed, so that the files are as they were at that moment.
func (h *history) sync(endAt int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var killed map[string][]byte
	queries, kills := 0, endAt > 0 && !isPostgres(h.db) && h.r.IntN(2) == 0
	h.shown, h.before = map[string]string{}, func() {
		if queries++; queries == endAt {
			if kills {
				killed = h.files()
			}
			cancel()
		}
	}
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "https://gw.test", AppID: "7", Location: time.UTC, HTTPClient: &http.Client{Transport: h}})
	if err != nil {
		h.t.Fatal(err)
	}
	var info Info
	begun := h.now
	h.books(func(b *Books) {
		_, err = b.Sync(ctx, SyncOptions{Client: client, From: h.since, Now: func() time.Time { return h.now }})
		if killed == nil {
			h.checkChanges(b, begun, err)
		}
	})
	if killed != nil {
		h.restore(killed)
		err = context.Canceled
	}
	var rows map[string]string
	h.books(func(b *Books) {
		rows = h.read(b)
		if info, _ = b.Info(context.Background()); err == nil && !info.LastSync.Equal(begun.Truncate(time.Microsecond)) {
			h.fail("the books were updated at %v, and say %v", begun, info.LastSync)
		}
	})
	gone, isGone := errors.AsType[*GoneError](err)
	switch {
	case err == nil:
		h.did["complete"]++
	case isGone && gone.Gone > 5, errors.Is(err, context.Canceled) && killed == nil:
		h.did["interrupted"]++
	case killed != nil:
		h.did["killed"]++
	default:
		h.fail("got %v", err)
	}
	h.checkRows(rows)
	if err == nil {
		h.checkComplete(rows, info.CompleteUpTo, begun)
		h.done = info.CompleteUpTo
	}
	h.last, h.tried, h.failed = rows, begun, err != nil
	h.now = h.now.Add(time.Minute)
}

func (h *history) fail(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("seed %d: "+format, append([]any{h.seed}, args...)...)
}

// read returns the orders of the books by the gateway's id.
func (h *history) read(b *Books) map[string]string {
	rows := map[string]string{}
	found, err := b.db.QueryContext(context.Background(), `SELECT unique_id, code, at FROM cardgateway_orders`)
	if err != nil {
		h.fail("%v", err)
	}
	for found.Next() {
		var unique string
		var code, at int64
		if err := found.Scan(&unique, &code, &at); err != nil {
			h.fail("%v", err)
		}
		rows[unique] = fmt.Sprint(code, " ", at)
	}
	if err := errors.Join(found.Err(), found.Close()); err != nil {
		h.fail("%v", err)
	}
	return rows
}

// checkRows: a row is as this run was shown it, or as it was before.
func (h *history) checkRows(rows map[string]string) {
	for unique, row := range rows {
		if row != h.last[unique] && row != h.shown[unique] {
			h.fail("%s is %q, was %q, and was shown as %q", unique, row, h.last[unique], h.shown[unique])
		}
	}
	for unique := range h.last {
		if _, has := rows[unique]; !has && h.shown[unique] != "" {
			h.fail("%s has left the books, and was shown as %q", unique, h.shown[unique])
		}
	}
}

// checkComplete: what is read again is as the gateway shows it.
func (h *history) checkComplete(rows map[string]string, complete, begun time.Time) {
	from := h.done.Add(-rereadAlways)
	if h.tried.IsZero() || !h.failed && begun.Sub(h.tried) >= day-time.Hour {
		from = h.done.Add(-rereadDaily)
	}
	if h.failed {
		from = complete.Add(-rereadAlways + time.Hour) // an interrupted run, whose range is ended first, may have read the last days before
	}
	if h.done.IsZero() && !h.failed || from.Before(h.since) {
		from = h.since
	}
	if behind := time.Since(complete); behind < 14*time.Minute || behind > 17*time.Minute {
		h.fail("complete up to %v, at %v", complete, time.Now())
	}
	for _, o := range h.orders {
		if o.at.Before(from.Add(time.Second)) || !o.at.Before(complete) {
			continue
		}
		if row := rows[o.unique]; o.hidden && row != "" || !o.hidden && row != o.String() {
			h.fail("%s is %q, and the gateway has %v (hidden: %t); read again from %v", o.unique, row, o, o.hidden, from)
		}
	}
}

// checkChanges: what differs from before, or appears late, or is gone, is recorded.
func (h *history) checkChanges(b *Books, begun time.Time, failed error) {
	recorded := map[string]string{}
	for _, c := range collect(h.t, b.changesSince(context.Background(), begun)) {
		recorded[c.ID+" "+c.What] = c.New
	}
	rows := h.read(b)
	for unique, row := range rows {
		code, _, _ := strings.Cut(row, " ")
		was, had := h.last[unique]
		before, _, _ := strings.Cut(was, " ")
		if had && before != code && recorded[unique+" code"] != code {
			h.fail("the code of %s was %s and is %s; recorded: %v", unique, before, code, recorded)
		}
		i := slices.IndexFunc(h.orders, func(o *shownOrder) bool { return o.unique == unique })
		if _, late := recorded[unique+" late"]; !had && !late && h.orders[i].at.Before(h.done) {
			h.fail("%s is late, and not recorded so (%v)", unique, failed)
		}
	}
	for unique := range h.last {
		_, has := rows[unique]
		if _, gone := recorded[unique+" gone"]; !has && !gone {
			h.fail("%s is gone, and not recorded so (%v)", unique, failed)
		}
	}
}

// files returns the files of a SQLite database, and restore puts them back.
func (h *history) files() map[string][]byte {
	files := map[string][]byte{}
	for _, end := range []string{"", "-wal"} {
		if data, err := os.ReadFile(h.db + end); err == nil {
			files[end] = data
		}
	}
	return files
}

func (h *history) restore(files map[string][]byte) {
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(h.db + end) // it may not exist
		if data, ok := files[end]; ok {
			if err := os.WriteFile(h.db+end, data, 0o600); err != nil {
				h.t.Fatal(err)
			}
		}
	}
}

// RoundTrip is the gateway. It has no refunds.
func (h *history) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	q := r.URL.Query()
	number := func(name string, missing int) int {
		if n, err := strconv.Atoi(q.Get(name)); err == nil {
			return n
		}
		return missing
	}
	size, current := number("pageSize", 10), number("currPage", 1)
	var rows []map[string]any
	if path.Base(r.URL.Path) == "order" {
		for _, o := range h.orders {
			if at := o.at.UTC().Format(time.DateTime); !o.hidden && at >= q.Get("startDate") && at <= q.Get("endingDate") {
				rows = append(rows, map[string]any{
					"code": o.code, "uniqueId": o.unique, "transactionId": "t-" + o.unique, "transactionAmount": "1.00", "transactionCurrency": "USD",
					"transactionAt": at,
				})
			}
		}
	}
	total := len(rows)
	rows = rows[min(total, (current-1)*size):min(total, current*size)]
	for _, row := range rows {
		at, _ := time.Parse(time.DateTime, row["transactionAt"].(string))
		h.shown[row["uniqueId"].(string)] = fmt.Sprint(row["code"], " ", at.UnixMicro())
	}
	body, err := json.Marshal(map[string]any{
		"code": 121, "currPage": current, "pageSize": size, "totalCount": total, "totalPage": (total + size - 1) / size, "data": append([]map[string]any{}, rows...),
	})
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, Body: io.NopCloser(strings.NewReader(string(body))),
	}, err
}
