package simulation

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	reconcile "github.com/cardgateway/cardgateway-go/internal/reconcile/books"
)

// copied is the copy of a shop, and what the oracle knows of it: what the gateway has shown while it was updated, which it
// compares with the tables of the copy, and both with the ledger.
type copied struct {
	shop                     *shop
	database, driver, schema string
	isOpen                   bool
	since                    time.Time
	lists                    map[reconcile.Kind]*list // as last imported

	rows     map[rowKey]copiedRow // as last read
	complete time.Time
	tried    time.Time // when the last update began
	failed   bool      // and whether it failed

	begun time.Time              // the update that is under way
	shown map[rowKey][]copiedRow // in it; a text that was not shown is empty
}

// rowKey is the kind of a row and the gateway's id, or what there is instead.
type rowKey struct {
	kind reconcile.Kind
	id   string
}

func kindOf(isRefund bool) reconcile.Kind {
	if isRefund {
		return reconcile.Refund
	}
	return reconcile.Payment
}

// copiedRow is a payment or a refund as the gateway has shown it, and as it is copied.
type copiedRow struct {
	unique, id, payment, state, amount, currency string
	at                                           int64 // microseconds; zero: none
	app                                          string
}

func (r copiedRow) time() time.Time {
	if r.at == 0 {
		return time.Time{}
	}
	return time.UnixMicro(r.at)
}

// location is that of the gateway, with a name that the books can store.
func (k *copied) location() *time.Location {
	hours := k.shop.gateway.config.ZoneHours
	return time.FixedZone(fmt.Sprintf("UTC%+d", hours), hours*3600)
}

// isOneOf reports whether a row is one of those of which one in so many is shown in another way.
func isOneOf(n int, id string) bool {
	return n > 0 && mix(sumOf(id), 5)%uint64(n) == 0
}

// show changes the rows of a page as Reconcile says, and notes what it shows.
func (k *copied) show(body []byte, path string) []byte {
	config, page := k.shop.config.Reconcile, decode(body)
	rows, ok := page["data"].([]any)
	if !ok {
		return body
	}
	kind := kindOf(strings.HasSuffix(path, "/refund"))
	for i := range rows {
		row, ok := rows[i].(map[string]any)
		if !ok {
			continue
		}
		isDeclined := codeOf(row) == "101" || codeOf(row) == "112"
		if config.BareDeclines && isDeclined {
			for _, name := range []string{"transactionAmount", "transactionCurrency", "refundAmount", "refundCurrency"} {
				delete(row, name)
			}
		}
		if kind == reconcile.Refund {
			id := text(row, "refundUniqueId")
			if isOneOf(config.NoTime, id) {
				delete(row, "refundRequestAt")
				delete(row, "refundAt")
			}
			if isOneOf(config.NoCurrency, id) {
				delete(row, "refundCurrency")
			}
			if isOneOf(config.SameID, id) {
				delete(row, "refundTransactionId")
				row["merchantRefundId"] = sharedID
			}
		} else if isOneOf(config.OtherApp, text(row, "uniqueId")) {
			row["appId"] = json.Number("999")
		}
		key, r := k.read(row, kind)
		k.shown[key] = append(k.shown[key], r)
	}
	return page.encode()
}

// sharedID is the id that a merchant gives to refunds of different payments.
const sharedID = "1"

func text(row members, name string) string {
	switch v := row[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// read reads a row of an answer as it is to be copied.
func (k *copied) read(row members, kind reconcile.Kind) (key rowKey, r copiedRow) {
	names := []string{"uniqueId", "transactionId", "", "transactionAmount", "transactionCurrency", "transactionAt"}
	if kind == reconcile.Refund {
		names = []string{"refundUniqueId", "merchantRefundId", "uniqueId", "refundAmount", "refundCurrency", "refundRequestAt"}
	}
	r = copiedRow{
		unique: text(row, names[0]), id: text(row, names[1]), payment: text(row, names[2]), state: cmp.Or(states[codeOf(row)], "unknown"),
		currency: text(row, names[4]),
	}
	if kind == reconcile.Refund && r.id == "" {
		r.id = text(row, "refundTransactionId")
	}
	if amount, err := decimal.NewFromString(text(row, names[3])); err == nil {
		r.amount = amount.String()
	}
	wall := text(row, names[5])
	if at, err := time.ParseInLocation(time.DateTime, wall, k.shop.gateway.location); err == nil {
		r.at = at.UnixMicro()
	}
	if app := text(row, "appId"); kind == reconcile.Payment && app != string(k.shop.appID()) {
		r.app = app
	}
	if r.unique == "" {
		return k.unnamed(kind, r), r
	}
	return rowKey{kind, r.unique}, r
}

// unnamed is the key of a row without the gateway's id.
func (k *copied) unnamed(kind reconcile.Kind, r copiedRow) rowKey {
	wall := ""
	if r.at != 0 {
		wall = r.time().In(k.shop.gateway.location).Format(time.DateTime)
	}
	if kind == reconcile.Refund {
		return rowKey{kind, "refund " + r.id + " " + r.payment + " " + wall}
	}
	return rowKey{kind, "transaction " + r.id + " " + wall}
}

// shownAs is as what a row of the copy was shown: with the gateway's id, or without it if the copy knows it already.
func (k *copied) shownAs(key rowKey) []copiedRow {
	r, all := k.rows[key], slices.Clip(k.shown[key])
	if r.unique != "" {
		for _, s := range k.shown[k.unnamed(key.kind, r)] {
			s.unique = r.unique
			all = append(all, s)
		}
	}
	return all
}

// load reads the copy from its tables, without the code under test.
func (k *copied) load() (rows map[rowKey]copiedRow, err error) {
	rows = make(map[rowKey]copiedRow)
	for kind, query := range map[reconcile.Kind]string{
		reconcile.Payment: `SELECT id, unique_id, transaction_id, '', state, amount, currency, at, other_app FROM cardgateway_orders`,
		reconcile.Refund:  `SELECT id, refund_unique_id, merchant_refund_id, unique_id, state, amount, currency, at, '' FROM cardgateway_refunds`,
	} {
		err = errors.Join(err, k.query(query, func(found *sql.Rows) error {
			var id string
			var r copiedRow
			err := found.Scan(&id, &r.unique, &r.id, &r.payment, &r.state, &r.amount, &r.currency, &r.at, &r.app)
			rows[rowKey{kind, id}] = r
			return err
		}))
	}
	return rows, err
}

// query calls scan with each row of a query of the copy's database.
func (k *copied) query(query string, scan func(*sql.Rows) error, args ...any) (err error) {
	db, err := sql.Open(k.driver, k.database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	found, err := db.Query(query, args...)
	if err != nil {
		return err
	}
	for found.Next() {
		if err := scan(found); err != nil {
			return errors.Join(err, found.Close())
		}
	}
	return errors.Join(found.Err(), found.Close())
}

// change is what has changed of a row: a column, or that it is late or gone.
type change struct {
	rowKey
	what string
}

// recorded reads which changes were recorded since a time, and the new values.
func (k *copied) recorded(since time.Time) (changes map[change]string, err error) {
	changes = make(map[change]string)
	return changes, k.query(`SELECT kind, id, what, new FROM cardgateway_changes WHERE seen >= $1`, func(found *sql.Rows) error {
		var kind, id, what, now string
		err := found.Scan(&kind, &id, &what, &now)
		changes[change{rowKey{kindOf(kind == "refunds"), id}, what}] = now
		return err
	}, since.UnixMicro())
}

// files returns the files of the database. There are none with Postgres, where a killed process counts as a stopped one.
func (k *copied) files() map[string][]byte {
	files := make(map[string][]byte)
	for _, end := range []string{"", "-wal"} {
		if b, err := os.ReadFile(k.database + end); err == nil {
			files[end] = b
		}
	}
	return files
}

// restore puts the files back as they were when the process was killed.
func (k *copied) restore(files map[string][]byte) {
	if k.driver != "sqlite" {
		return
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(k.database + end) // it may not exist
		if b, ok := files[end]; ok {
			if err := os.WriteFile(k.database+end, b, 0o600); err != nil {
				panic(err)
			}
		}
	}
}

// syncResult is what an update has returned.
type syncResult struct {
	report reconcile.SyncReport
	info   reconcile.Info
	err    error
	killed bool
}

// The limits that the documentation of Sync names.
const (
	rereadAlways = 48 * time.Hour
	rereadDaily  = 28 * day
	daily        = 23 * time.Hour
	walkLag      = 15 * time.Minute // also the default of WalkOptions.Lag
)

// checkSync compares the copy with what the gateway has shown, and what it has shown with the ledger.
func (x *reconciles) checkSync(c *call, k *copied, r syncResult) {
	before, complete, tried, failed := k.rows, k.complete, k.tried, k.failed
	rows, err := k.load()
	if err != nil {
		if !r.killed { // before the tables were made
			x.w.violate("books can be read", "%s: %v", k.shop.name, err)
		}
		return
	}
	k.rows, k.tried, k.failed = rows, k.begun, r.err != nil
	if r.err == nil {
		k.complete = r.info.CompleteUpTo
	}
	x.checkRows(k, before)
	x.checkError(k, r)
	if !r.killed {
		x.checkRecorded(k, r, before, complete)
	}
	if r.err != nil {
		return
	}
	if to := r.info.CompleteUpTo; to.Before(k.begun.Add(-walkLag-time.Second)) || to.After(time.Now().Add(-walkLag)) {
		x.w.violate("a copy says up to where it is complete", "%s: up to %v, at %v", k.shop.name, to, k.begun)
	}
	// What every update reads again. After one that failed, the walk that it had begun is ended first.
	isDaily := tried.IsZero() || !failed && k.begun.Sub(tried) >= daily
	from := complete.Add(-rereadAlways)
	switch {
	case failed:
		from = tried.Add(-rereadAlways)
	case isDaily:
		from = complete.Add(-rereadDaily)
	}
	if complete.IsZero() && !failed || from.Before(k.since) {
		from = k.since
	}
	x.checkReread(k, from.Truncate(time.Second).Add(time.Second), isDaily)
}

// checkRows checks that each row is as the gateway has shown it: in this update, if it shows it otherwise than before.
func (x *reconciles) checkRows(k *copied, before map[rowKey]copiedRow) {
	for key, r := range k.rows {
		was, had := before[key]
		if had && r == was {
			continue
		}
		shownAs := k.shownAs(key)
		isShown := slices.ContainsFunc(shownAs, func(s copiedRow) bool {
			hasAmount := keeps(shownAs, s.amount, r.amount, cmp.Or(was.amount, "0"), func(r copiedRow) string { return r.amount })
			hasCurrency := keeps(shownAs, s.currency, r.currency, was.currency, func(r copiedRow) string { return r.currency })
			s.amount, s.currency = r.amount, r.currency
			return s == r && hasAmount && hasCurrency
		})
		if !isShown {
			x.w.violate("a copy has what the gateway has shown", "%s: %v is %+v, was %+v, was shown as %+v", k.shop.name, key, r, was, k.shown[key])
			return
		}
	}
}

// keeps reports whether a text of a row is what was shown. If none was shown, it is what it was, or what was shown before in this update.
func keeps(all []copiedRow, shown, is, was string, of func(copiedRow) string) bool {
	if shown != "" {
		return is == shown
	}
	return is == was || is != "" && slices.ContainsFunc(all, func(r copiedRow) bool { return of(r) == is })
}

// checkError checks that an update ends with an error that is documented.
func (x *reconciles) checkError(k *copied, r syncResult) {
	gone, isGone := errors.AsType[*reconcile.GoneError](r.err)
	switch {
	case r.err == nil:
		if r.info.LastSync.Before(k.begun.Truncate(time.Microsecond)) {
			x.w.violate("a copy says when it was updated", "%s: %v, at %v", k.shop.name, r.info.LastSync, k.begun)
		}
	case isGone:
		if gone.Gone <= 5 || gone.Gone > gone.Of {
			x.w.violate("an update is refused if much has vanished", "%s: %v", k.shop.name, r.err)
		}
	case errors.Is(r.err, cardgateway.ErrQueryFailed), errors.Is(r.err, cardgateway.ErrUnsettled),
		errors.Is(r.err, context.Canceled), errors.Is(r.err, context.DeadlineExceeded):
	default:
		x.w.violate("an update ends with a documented error", "%s: %v", k.shop.name, r.err)
	}
}

// named returns the rows of the copy with the gateway's id that can be an unnamed one.
func (k *copied) named(unnamed copiedRow) (rows []copiedRow) {
	for _, r := range k.rows {
		if r.unique != "" && r.id == unnamed.id && r.payment == unnamed.payment {
			rows = append(rows, r)
		}
	}
	return rows
}

// checkRecorded checks that the changes of the copy are recorded, and that nothing leaves it but what was not shown.
func (x *reconciles) checkRecorded(k *copied, r syncResult, before map[rowKey]copiedRow, complete time.Time) {
	changes, err := k.recorded(k.begun)
	if err != nil {
		x.w.violate("books can be read", "%s: %v", k.shop.name, err)
		return
	}
	need := func(key rowKey, what, now string) {
		if got, ok := changes[change{key, what}]; !ok || got != now {
			x.w.violate("a change of the copy is recorded", "%s: %s of %v is now %q, and recorded as %q (%v)", k.shop.name, what, key, now, got, ok)
		}
	}
	for key, is := range k.rows {
		was, had := before[key]
		if !had {
			if before != nil && is.at > 0 && is.time().Before(complete) {
				need(key, "late", "")
			}
			continue
		}
		if _, left := changes[change{key, "gone"}]; left { // with what it was; it came back in the same update
			need(key, "late", "")
			continue
		}
		for _, column := range []struct{ name, was, is string }{
			{"state", was.state, is.state}, {"amount", was.amount, is.amount}, {"currency", was.currency, is.currency}, {"other_app", was.app, is.app},
		} {
			if column.is != column.was {
				need(key, column.name, column.is)
			}
		}
	}
	for key, was := range before {
		if _, has := k.rows[key]; has {
			continue
		}
		isNamed := was.unique == "" && len(k.named(was)) > 0 // it is there under the gateway's id now
		if len(k.shown[key]) > 0 || was.at == 0 && !isNamed {
			x.w.violate("only what the gateway no longer shows leaves the copy", "%s: %v, %+v", k.shop.name, key, was)
		}
		if was.unique != "" {
			need(key, "gone", "")
		}
	}
	late, gone := 0, 0
	for c := range changes {
		switch c.what {
		case "late":
			late++
		case "gone":
			gone++
		}
	}
	if r.report.Late < late || r.report.Gone != gone {
		x.w.violate("a change of the copy is recorded", "%s: %d late and %d gone rows are recorded, and the report is %+v", k.shop.name, late, gone, r.report)
	}
}

// checkReread checks the range that an update has read again, and what it has asked again, against the ledger. It excuses rows that
// the gateway may not have shown yet, and those that it has shown in another way at some time of the update: for these, checkRows
// and the end of this function hold what it has shown.
func (x *reconciles) checkReread(k *copied, from time.Time, isDaily bool) {
	w, atOnce := x.w, time.Since(k.begun) == 0
	for _, t := range w.things {
		if t.shop != k.shop || !t.disguisedUntil.Before(k.begun) {
			continue
		}
		for _, row := range t.rows() {
			at := row.At.Truncate(time.Second)
			if !row.At.Add(k.shop.gateway.config.Lag + time.Second).Before(k.begun) {
				continue
			}
			key := rowKey{kindOf(t.isRefund()), row.UniqueID}
			r, has := k.rows[key]
			shown := k.shownAs(key)
			isInRange := !at.Before(from) && at.Before(k.complete)
			// What the gateway has always shown before the copy was complete there is in it, however old.
			isOld := t.disguise == "" && k.shop.gateway.config.Lag < walkLag && !at.Before(k.since) && at.Before(k.complete)
			if (isInRange || isOld) && !has {
				w.violate("a copy has every row up to where it is complete", "%s: row %s of %s of %v is not in it; complete up to %v",
					k.shop.name, row.UniqueID, t.name(), at, k.complete)
				return
			}
			isOpen := r.state == "processing" || r.state == "redirect" || r.state == "unknown"
			isAsked := isDaily && has && isOpen && r.at != 0 && k.begun.Sub(at) < 180*day // no query finds one without a time for certain
			if (isInRange || isAsked) && (len(shown) == 0 || atOnce && r.state != states[fmt.Sprint(row.Code)]) {
				w.violate("a copy has the states of the gateway", "%s: row %s of %s of %v is %s, and the ledger has %d",
					k.shop.name, row.UniqueID, t.name(), at, r.state, row.Code)
				return
			}
		}
	}
	for key, shown := range k.shown {
		r := shown[len(shown)-1]
		if at := r.time(); atOnce && r.at != 0 && !at.Before(from) && at.Before(k.complete) && !k.has(key, r) {
			w.violate("a copy has what the gateway has shown", "%s: %v, %+v, is not in it", k.shop.name, key, r)
			return
		}
	}
	for key, r := range k.rows {
		if at := r.time(); r.at != 0 && !at.Before(from) && at.Before(k.complete) && len(k.shownAs(key)) == 0 {
			w.violate("a copy has no row that the gateway no longer shows", "%s: %v, %+v", k.shop.name, key, r)
			return
		}
	}
}

// has reports whether a row that was shown is in the copy. One without the gateway's id can be there with it.
func (k *copied) has(key rowKey, r copiedRow) bool {
	_, has := k.rows[key]
	return has || r.unique == "" && slices.ContainsFunc(k.named(r), func(is copiedRow) bool { return is.at == r.at })
}

// states are those of the codes of rows.
var states = map[string]string{
	"100": "approved", "101": "declined", "103": "declined", "102": "processing", "301": "redirect",
	"111": "approved", "112": "declined", "110": "processing",
}
