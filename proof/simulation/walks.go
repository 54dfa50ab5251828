package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// walks are the jobs with which each shop keeps a copy of its gateway's orders and refunds. What a job has stored, and its
// checkpoint, survive the process.
type walks struct {
	w    *world
	jobs map[jobKey]*job
}

// jobKey says what a job walks over.
type jobKey struct {
	shop             *shop
	refunds, archive bool
}

func newWalks(w *world) *walks { return &walks{w, make(map[jobKey]*job)} }

// Walk is one run of such a job. It continues at the saved checkpoint, or begins where the last range was complete.
type Walk struct {
	Archive    bool // over the archive, and not over what this world has made; again from its beginning after its end
	Refunds    bool
	PageSize   int
	Prefetch   int
	SplitAbove int
	Window     time.Duration
	SaveEvery  int // rows between checkpoints, above one in batches; zero: only at the end
	Arrive     int // a row arrives in the archive with every n-th query; zero: none
	Vanish     int // a row vanishes from it with every n-th query, if that asks for a further page
}

// job is what a job has in the merchant's database.
type job struct {
	checkpoint []byte // JSON
	start, end time.Time
	completeTo time.Time        // every row from begun to here has been stored
	begun      time.Time        // of the first range
	rows       map[string]int64 // the code of each row, by its id
}

func (x *walks) job(s *shop, config Walk) *job {
	key := jobKey{s, config.Refunds, config.Archive}
	if j := x.jobs[key]; j != nil && !(config.Archive && j.completeTo.Equal(archiveEnd)) {
		return j
	}
	j := &job{rows: make(map[string]int64), begun: x.w.begun.Add(-time.Hour)}
	if config.Archive {
		j.begun = s.gateway.archive.start()
	}
	j.completeTo = j.begun
	x.jobs[key] = j
	return j
}

func (x *walks) do(s *Step) (made func(), ok bool) {
	if s.Do != "walk" {
		return nil, false
	}
	p := x.w.processOf(s)
	if x.w.clocks > 0 || s.Walk.Archive && p.shop.gateway.archive == nil {
		return nil, true // what a walk must find is known by the world's clock only
	}
	return x.w.call(s, p, func(c *call) { x.run(c, s.Walk) }), true
}

// walkedRow is what the oracle needs of an order or a refund.
type walkedRow struct {
	id      string
	of      journal.ID
	app     cardgateway.AppID // empty in a refund
	code    cardgateway.Code
	at      time.Time // zero if the gateway has left it out
	also    time.Time // of a refund: when it was made
	success bool
}

// run runs a job once.
func (x *walks) run(c *call, config Walk) {
	j, client := x.job(c.process.shop, config), c.process.client
	l := client.Location()
	if config.Refunds {
		run(x, c, j, config, way[cardgateway.Refund, cardgateway.RefundQuery]{
			query: func(start, end time.Time) cardgateway.RefundQuery {
				return cardgateway.RefundQuery{Start: start, End: end}
			},
			walk: client.RefundWalk,
			read: func(r *cardgateway.Refund) walkedRow {
				if !r.RefundAt.IsZero() && r.RefundRequestAt.Compare(r.RefundAt) > 0 {
					x.w.violate("a walk gives what the gateway has", "refund %s was made at %v and requested at %v", r.RefundUniqueID, r.RefundAt, r.RefundRequestAt)
				}
				return walkedRow{
					r.RefundUniqueID, journal.RefundID(r.MerchantRefundID), "", r.Code, r.RefundRequestAt.In(l), r.RefundAt.In(l), r.Refunded(),
				}
			},
		})
		return
	}
	run(x, c, j, config, way[cardgateway.Transaction, cardgateway.OrderQuery]{
		query: func(start, end time.Time) cardgateway.OrderQuery {
			return cardgateway.OrderQuery{Start: start, End: end}
		},
		walk: client.OrderWalk,
		read: func(t *cardgateway.Transaction) walkedRow {
			return walkedRow{t.UniqueID, journal.PaymentID(t.TransactionID), t.AppID, t.Code, t.TransactionAt.In(l), time.Time{}, t.State() == cardgateway.StateApproved}
		},
	})
}

// way is how the rows of a kind are read.
type way[T, Query any] struct {
	query func(start, end time.Time) Query
	walk  func(Query, cardgateway.WalkOptions) *cardgateway.Walk[T]
	read  func(*T) walkedRow
}

func run[T, Query any](x *walks, c *call, j *job, config Walk, by way[T, Query]) {
	w, p := x.w, c.process
	var past *pastRows
	if config.Archive {
		if past = p.shop.gateway.archive.list(config.Refunds); past.isRead {
			return // by the other process
		}
		defer past.end()
	}
	ctx, cancel := c.context()
	defer cancel()
	c.endsByError = true // a walk has goroutines that fetch
	lag := max(15*time.Minute, p.shop.gateway.config.Lag+time.Minute)
	o := cardgateway.WalkOptions{
		PageSize: config.PageSize, Prefetch: max(config.Prefetch, 1), SplitAbove: config.SplitAbove, Window: config.Window, Lag: lag,
	}
	var last cardgateway.Progress
	o.Progress = func(now cardgateway.Progress) {
		if now.Fraction < last.Fraction || now.Fraction > 1 || now.Rows < last.Rows || now.CompleteUpTo.Before(last.CompleteUpTo) {
			w.violate("a walk goes forward", "%s: from %+v to %+v", p.name(), last, now)
		}
		last = now
		if past != nil {
			past.isCounted(now.CompleteUpTo)
		}
	}
	start, end := j.start, j.end
	resumed := j.checkpoint != nil
	inBatches := config.SaveEvery > 1
	if resumed {
		err := json.Unmarshal(j.checkpoint, &o.Resume)
		if inBatches {
			err = errors.Join(err, o.Resume.Scan(j.checkpoint))
		}
		if err != nil {
			w.violate("a checkpoint can be read", "%s: %v of %s", p.name(), err, j.checkpoint)
			return
		}
	} else {
		start, end = j.completeTo, time.Now()
		if config.Archive {
			end = archiveEnd
		}
		if !start.Before(end) {
			return
		}
	}
	query := by.query(start, end)
	if resumed { // the checkpoint has the range
		query = by.query(time.Time{}, time.Time{})
	}
	walk := by.walk(query, o)
	if past != nil {
		if c.step.Query != "" || p.shop.query != "" || c.step.Timeout > 0 { // a walk cannot take account of an answer that it does not get
			config.Arrive, config.Vanish = 0, 0
		}
		past.begin(config, resumed, func() time.Time { return walk.Report().CompleteUpTo })
	}
	w.tell("%s: walks (refunds %v) from %v to %v, resumed %v, %+v", p.name(), config.Refunds, start, end, resumed, config)
	seen, fresh := make(map[string]bool), make(map[string]int64)
	// save stores what was read, and the checkpoint, in one transaction.
	save := func(checkpoint cardgateway.Checkpoint) {
		p.endIfDead()
		maps.Copy(j.rows, fresh)
		clear(fresh)
		if checkpoint.IsZero() {
			return
		}
		b := must(json.Marshal(checkpoint))
		if column, err := checkpoint.Value(); column != string(b) || err != nil {
			w.violate("a checkpoint is the same in a column", "%s: got %v, %v, want %s", p.name(), column, err, b)
		}
		w.searchSecrets("a checkpoint", b)
		j.checkpoint, j.start, j.end = b, start, end
		x.claim(c, j, config, checkpoint.CompleteUpTo(), lag, end)
	}
	rows := 0
	take := func(row *T) {
		rows++
		r := by.read(row)
		x.checkRow(c, config, r, start, end)
		if r.id != "" && seen[r.id] {
			w.violate("a walk gives each row once", "%s: row %s of %v twice in one walk", p.name(), r.id, r.of)
		}
		seen[r.id], fresh[r.id] = true, int64(r.code)
	}
	isEnough := func() bool { return c.step.N > 0 && rows >= c.step.N }
	var failed error
	isLast := false
	if inBatches {
		for batch, err := range walk.Batches(ctx, config.SaveEvery) {
			p.endIfDead()
			if failed = err; failed != nil {
				break
			}
			for _, row := range batch.Rows {
				take(row)
			}
			if isEnough() {
				break
			}
			save(batch.Checkpoint)
			isLast = batch.Last
		}
	} else {
		for row, err := range walk.All(ctx) {
			p.endIfDead()
			if failed = err; failed != nil {
				break
			}
			take(row)
			if config.SaveEvery > 0 && rows%config.SaveEvery == 0 {
				save(walk.Checkpoint())
			}
			if isEnough() {
				break
			}
		}
	}
	p.endIfDead()
	w.searchError("an error of a walk", failed)
	w.tell("%s: the walk has given %d rows, %v", p.name(), rows, failed)
	whole := failed == nil || errors.Is(failed, cardgateway.ErrUnreadableRows) // it has given all that can be read
	left := failed == nil && isEnough()
	if inBatches && !left && isLast != (failed == nil) {
		w.violate("the last batch says that it is", "%s: it says %v, and the walk ends with %v", p.name(), isLast, failed)
	}
	if left && c.step.Books != "" { // without saving
		return
	}
	save(walk.Checkpoint())
	report := walk.Report()
	if report.RowsSeen != rows {
		w.violate("a walk counts what it gives", "%s: %d rows, and the report has %d", p.name(), rows, report.RowsSeen)
	}
	for _, err := range walk.All(ctx) {
		if !errors.Is(err, cardgateway.ErrWalked) {
			w.violate("a walk is used once", "%s: a second loop ends with %v", p.name(), err)
		}
	}
	if whole && !left {
		x.claim(c, j, config, report.CompleteUpTo, lag, end)
		if j.checkpoint = nil; report.CompleteUpTo.After(j.completeTo) {
			j.completeTo = report.CompleteUpTo
		}
		if r := report.CompleteUpTo; r.Before(end.Add(-lag - time.Second)) {
			w.violate("a walk that ends without an error is complete", "%s: up to %v only, of %v; %v", p.name(), r, end, report.WrongZone)
		}
	}
	x.checkError(c, failed)
}

// isForeign reports whether an appId is that of another shop.
func (w *world) isForeign(s *shop, app cardgateway.AppID) bool {
	return app != "" && slices.ContainsFunc(w.shops, func(other *shop) bool { return other.appID() == app && app != s.appID() })
}

// checkRow compares a row with the ledger.
func (x *walks) checkRow(c *call, config Walk, r walkedRow, start, end time.Time) {
	w, s := x.w, c.process.shop
	if w.isForeign(s, r.app) || config.Archive {
		return
	}
	t := s.byID[r.of]
	if t == nil && !config.Refunds && !s.config.SharesCredentials {
		w.violate("a walk gives what the gateway has", "%s: row %s of %v, which nobody made", c.process.name(), r.id, r.of)
		return
	}
	if t == nil || t.disguise != "" {
		return
	}
	for _, row := range t.rows() {
		if row.UniqueID == r.id && r.success && row.Code != int(r.code) {
			w.violate("a walk gives what the gateway has", "%s: row %s of %s has code %v, and the ledger %d", c.process.name(), r.id, t.name(), r.code, row.Code)
		}
	}
	inside := func(at time.Time) bool { return !at.Before(start.Truncate(time.Second)) && !at.After(end) }
	if !r.at.IsZero() && !inside(r.at) && !inside(r.also) {
		w.violate("a walk gives rows of its range", "%s: row %s of %v, and the range is %v to %v", c.process.name(), r.id, r.at, start, end)
	}
}

// claim checks that everything up to a time is stored, as a walk has claimed.
func (x *walks) claim(c *call, j *job, config Walk, upTo time.Time, lag time.Duration, end time.Time) {
	w, s := x.w, c.process.shop
	if upTo.IsZero() {
		return
	}
	if upTo.After(end) || upTo.After(time.Now().Add(-lag)) {
		w.violate("a walk claims no more than it can know", "%s: complete up to %v, of %v, at %v", c.process.name(), upTo, end, time.Now())
	}
	if config.Archive {
		if r := s.gateway.archive.list(config.Refunds).missing(upTo, j.rows); r != nil && !w.isBroken() {
			w.violate("a walk misses nothing up to where it is complete",
				"%s: complete up to %v, and row %s of the archive of %v was not given", c.process.name(), upTo, r.id, r.at)
		}
		return
	}
	for _, t := range w.things {
		if t.shop != s || t.isRefund() != config.Refunds || t.disguise != "" {
			continue
		}
		for _, row := range t.rows() {
			if row.At.Before(j.begun) || !row.At.Truncate(time.Second).Before(upTo.Truncate(time.Second)) {
				continue
			}
			if _, stored := j.rows[row.UniqueID]; !stored {
				w.violate("a walk misses nothing up to where it is complete",
					"%s: complete up to %v, and row %s of %s of %v was not given", c.process.name(), upTo, row.UniqueID, t.name(), row.At)
				return
			}
		}
	}
}

// checkError checks that an error is one that is documented.
func (x *walks) checkError(c *call, err error) {
	if err == nil || errors.Is(err, cardgateway.ErrQueryFailed) || errors.Is(err, cardgateway.ErrUnsettled) ||
		errors.Is(err, cardgateway.ErrUnreadableRows) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	x.w.violate("a walk ends with a documented error", "%s: %v", c.process.name(), err)
}

// rest runs each job to its end: then every row has been given.
func (x *walks) rest() {
	x.restArchives()
	w := x.w
	for _, s := range w.shops {
		for _, refunds := range []bool{false, true} {
			for range 2 { // the first one may end the range of an earlier checkpoint
				w.runAlone(w.call(&Step{Do: "walk"}, s.processes[0], func(c *call) { x.run(c, Walk{Refunds: refunds, SaveEvery: 1}) }))
			}
			if j := x.job(s, Walk{Refunds: refunds}); time.Since(j.completeTo) > s.gateway.config.Lag+time.Hour && !s.config.SharesCredentials && !w.isBroken() {
				w.violate("a walk comes to its end once the gateway answers", "the job of %s (refunds %v) is complete up to %v only", s.name, refunds, j.completeTo)
			}
		}
	}
}

// restArchives runs the job of each archive to its end.
func (x *walks) restArchives() {
	w := x.w
	for _, s := range w.shops {
		if a := s.config.Archive; a.Rows == 0 || a.Capped || a.Ties || w.clocks > 0 || w.isBroken() {
			continue // of a capped total, nothing can be known
		}
		config := Walk{Archive: true, SaveEvery: 1}
		j := x.job(s, config)
		w.runAlone(w.call(&Step{Do: "walk"}, s.processes[0], func(c *call) { x.run(c, config) }))
		if !j.completeTo.Equal(archiveEnd) && !w.isBroken() {
			w.violate("a walk comes to its end once the gateway answers", "the job of the archive of %s is complete up to %v only", s.name, j.completeTo)
		}
	}
}

func (x *walks) plan(d *draw, h *History) {
	var steps []Step
	for range len(h.Steps) / 10 {
		s := Step{
			Do: "walk", After: d.between(time.Second, time.Hour), Shop: d.IntN(4), Process: d.IntN(4), Seed: d.Uint64() % 1000,
			Walk: Walk{
				Refunds: d.chance(3), PageSize: one(d, 0, 0, 1, 2, 3, 10), Prefetch: one(d, 1, 1, 4), SplitAbove: one(d, 0, 0, 5, 100),
				Window: one(d, 0, 0, time.Hour, 24*time.Hour, 7*24*time.Hour), SaveEvery: one(d, 0, 1, 5),
			},
		}
		switch d.IntN(6) {
		case 0:
			s.N = 1 + d.IntN(20)
			s.Books = one(d, "", "crash")
		case 1:
			s.DieAt = 1 + d.IntN(40)
		case 2:
			s.Query, s.QueryTimes = one(d, "dropped", "500", "html", "429", "cut", "no body"), 1+d.IntN(4)
		case 3:
			s.With = 1 + d.IntN(3) // while other things happen
		}
		steps = append(steps, s)
	}
	h.scatter(d, steps)
	x.planArchives(newDraw(d.Uint64()), h)
}

// planArchives draws archives for some shops, and days on which they are read.
func (x *walks) planArchives(d *draw, h *History) {
	var steps []Step
	for i := range h.World.Shops {
		if !d.chance(2) {
			continue
		}
		a := Archive{
			Rows: 20 + d.IntN(100), Span: one(d, d.between(time.Minute, time.Hour), d.between(time.Minute, 100*day)), Bursts: one(d, 0, 1, 3, 10),
			PageSize: one(d, 0, 3, 5, 10, 50), Capped: d.chance(4), Ties: d.chance(6), OldestFirst: d.chance(2), Exclusive: d.chance(3),
		}
		h.World.Shops[i].Archive = a
		saveEvery, arrive, vanish := one(d, 1, 1, 5, 0), one(d, 0, 2, 3, 5), one(d, 0, 0, 1, 2)
		switch { // totals show neither what comes instead of something else, nor, if they are capped, anything that comes or goes
		case a.Capped:
			arrive, vanish = 0, 0
		case vanish > 0:
			arrive = 0
		}
		for range 6 {
			s := Step{
				Do: "walk", After: d.between(time.Second, time.Hour), Shop: i, Process: d.IntN(4), Seed: d.Uint64() % 1000,
				Walk: Walk{
					Archive: true, Refunds: d.chance(4), PageSize: one(d, 0, 3, 5, 10), Prefetch: one(d, 1, 1, 4),
					SplitAbove: one(d, 0, 0, 20, 1000), Window: one(d, 0, 0, max(a.Span/7, time.Minute), max(a.Span/30, time.Minute)),
					SaveEvery: saveEvery, Arrive: arrive, Vanish: vanish,
				},
			}
			if vanish > 0 && d.chance(2) {
				s.Walk.SplitAbove, s.Walk.PageSize = 1000, 5
			}
			switch d.IntN(4) {
			case 0:
				s.N, s.Books = 1+d.IntN(a.Rows), one(d, "", "crash")
			case 1:
				s.DieAt = 1 + d.IntN(60)
			case 2:
				s.Query, s.QueryTimes = one(d, "dropped", "500", "429", "cut"), 1+d.IntN(2)
			}
			steps = append(steps, s)
		}
	}
	h.scatter(d, steps)
}
