package main

// A fault is a change of the code under test that breaks a promise: most of them were found in it once, by hand.
type fault struct {
	Name  string // short, without spaces
	Says  string // what goes wrong
	Edits []edit
}

// An edit replaces text that stands exactly once in a file.
type edit struct {
	File     string // from the root of the repository
	Old, New string
}

// outOfReach are faults that were found and mended too, and that no history can show, with the reason.
var outOfReach = []struct{ Fault, Why string }{
	{"a response that came before its request is believed", "the simulation replaces the network above HTTP; internal/transport has tests with real connections"},
	{"writes of approvals wait while others come", "the goroutines of a history work one at a time; the journal's tests have many at once"},
	{"a full disk, a database that rejects updates for ever", "the store of a history fails for one call or one step; package faults has a full disk"},
	{"a database server that is too old is used", "histories have one version of Postgres"},
	{"a log that was rotated away, or grows with every attempt", "the journal has no files of its own any more"},
	{"a row that moves to a later month comes twice", "documented: no walk can know that it is the same event"},
	{"one row vanishes while another comes in the same part", "documented: the total does not change"},
	{"a process that was stopped reports before its renewing goroutine notices", "virtual time does not stop a goroutine; the journal has a test, and faults -part replicas stops processes"},
	{"Run says that nothing was sent for a payment that a restored journal has lost", "in a history the merchant does not list what was lost; the journal has a test"},
	{"wrong lists, reports, periods, exit codes of the tool; files that it replaces", "cmd/cardgateway is not part of a history; it has tests"},
	{"a web page reaches the sandbox, the sandbox does not compile for 32 bits", "the sandbox is the gateway of a history, not what is tested"},
	{"a sample ends at SIGTERM, an alert is too early, a version is wrong", "documentation and builds"},
}

// stores are those with which some faults can be seen; with the others, any will do. In memory no entry is ever damaged.
var stores = map[string]string{"bad-row-ends-recovery": "sqlite"}

// faults are planted one at a time. When the code changes, an edit that no longer fits is an error: see TestEditsFit.
var faults = []fault{
	{"gateway-spelled-otherwise", "Options.Gateway in another spelling is another shop: open payments are forgotten, ids paid again", []edit{
		{"journal/entry.go", "Gateway: cmp.Or(baseurl.Normal(gateway), client.BaseURL())", "Gateway: cmp.Or(gateway, baseurl.Normal(client.BaseURL()))"},
	}},
	{"forgets-by-first-submission", "Forget deletes a payment that was submitted again a moment ago", []edit{
		{"journal/entry.go", " && !slices.ContainsFunc(e.Evidence, since)", " && since != nil"},
	}},
	{"one-success-counts-twice", "an approval without an id and its confirmation with one are a conflict", []edit{
		{"journal/state.go", "return ev.Source != other.Source || s.sameTime(o)", "return s.id() == o.id() && (ev.Source != other.Source || s.sameTime(o))"},
	}},
	{"renewal-is-a-conflict", "a later charge of a subscription counts as a second payment", []edit{
		{"journal/state.go", " && !p.isLater(ev, before) && !p.isLater(before, ev)", ""},
	}},
	{"renewal-hides-double-charge", "two charges of one cycle count as a payment and a later charge", []edit{
		{"internal/recurring/recurring.go", "return max(days[cycle], 1) * hoursPerDay * time.Hour", "return time.Second"},
	}},
	{"decline-after-refusal-final", "the decline of a repetition ends a payment whose refusal was not true", []edit{
		{"journal/state.go", "if ev.State == NotSent {\n", "if true {\n"},
	}},
	{"refund-came-back", "a refund that was made and then came back stays refunded", []edit{
		{"journal/query.go", "(known.intent.onHostedPage() || !known.reverses(&ev))", "true"},
	}},
	{"nil-context-panics", "a nil context ends in a panic", []edit{
		{"journal/submit.go", "if err := needContext(ctx, r.intent.Operation); err != nil {\n\t\treturn gatewayResult{}, j.notClaimed(r, err)\n\t}\n", ""},
	}},
	{"shown-then-absent", "Resolve says not found of a payment that the gateway has shown before", []edit{
		{"internal/resolve/resolve.go", "seen = seen || e.shown\n", ""},
	}},
	{"shown-in-journal-then-absent", "the journal presumes absent what the gateway has shown before", []edit{
		{"journal/state.go", "if p.state == Unknown && !p.seen {", "if p.state == Unknown {"},
		{"journal/state.go", "if p.seen && (p.state == PresumedAbsent || ", "if p.seen && ("},
	}},
	{"announced-then-absent", "a row that a page announces and does not return counts as no row", []edit{
		{"internal/resolve/evidence.go", "if len(inRange) < announced { // some rows were announced and not returned\n\t\t\t\te.shown = true\n\t\t\t\te.doubt(ErrDoubtful)\n\t\t\t}\n", ""},
		{"internal/resolve/evidence.go", "announced = max(announced, page.Total)\n", "_ = announced\n"},
	}},
	{"answer-shows-nothing", "a payment whose own answer had the gateway's id counts as never shown", []edit{
		{"internal/verdict/verdict.go", "return s.HasMerchantID && (s.HasGatewayID || s.State != Unclear && s.State != Declined)", "return false"},
	}},
	{"lone-decline-with-foreign-rows", "a decline is final although the search returned rows of other payments", []edit{
		{"internal/resolve/evidence.go", "if !row.Expected {\n\t\t\te.doubt(ErrDoubtful)\n\t\t}\n", ""},
	}},
	{"two-shops-one-store", "two shops in one database see each other's payments", []edit{
		{"journal/entry.go", "AppID: client.AppID()}", "}"},
	}},
	{"app-not-compared", "an answer that states another app is believed", []edit{
		{"types.go", "return stated != \"\" && strings", "return stated != \"\" && false && strings"},
	}},
	{"bad-row-ends-recovery", "one entry that cannot be read ends Recover", []edit{
		{"journal/recover.go", "if len(unreadable) < maxUnreadable {\n\t\t\t\tunreadable = append(unreadable, err)\n\t\t\t}\n\t\t\tcontinue\n", "return err\n"},
	}},
	{"nil-body-panics", "a response without a body ends in a panic", []edit{
		{"internal/transport/read.go", "if resp.Body == nil {", "if false {"},
	}},
	{"token-in-error", "the error of a foreign transport keeps the token that it quotes", []edit{
		{"call.go", "r.Err = c.secrets.all().ReadError(r.Err)\n", ""},
	}},
	{"escaped-token-in-error", "the error of a foreign transport keeps credentials that it quotes with other escapes", []edit{
		{"internal/redact/secrets.go", "s.in(text, minLength) || s.inEscaped(text, minLength, maxEscapes)\n}", "s.in(text, minLength)\n}"},
	}},
	{"request-in-error", "the error of a foreign transport keeps the request that it holds", []edit{
		{"internal/redact/error.go", "if search.value(reflect.ValueOf(err)) {", "if search.value(reflect.ValueOf(err)) && false {"},
	}},
	{"store-fails-in-submit", "a further submission that could not be recorded is taken for somebody else's", []edit{
		{"journal/submit.go", "return false, j.failUnsent(ctx, in, \"the submission could not be recorded\", failed)", "return false, nil"},
		{"journal/submit.go", "if time.Now().After(patience) {\n\t\t\t\treturn e, false, in.notSent(ErrChanged)\n\t\t\t}\n", ""},
	}},
	{"resubmission-overtaken", "a further submission whose write failed is sent on top of what another process recorded", []edit{
		{"journal/submit.go", "case errors.Is(failed, ErrChanged):\n\t\t\treturn false, nil\n", "case errors.Is(failed, ErrChanged):\n\t\t\t*e = now\n\t\t\tcontinue\n"},
	}},
	{"refusal-not-queried", "AfterRefusal sends again although the query for the refused payment failed", []edit{
		{"journal/query.go", "if queryErr != nil {", "if queryErr != nil && false {"},
	}},
	{"refusal-believed", "AfterRefusal sends again without a query", []edit{
		{"journal/submit.go", "case known.state == Refused && c.accepts == afterRefusal && known.intent.Sender != c.queried:", "case false:"},
	}},
	{"refused-while-waiting", "AfterRefusal does not query for what is refused while it waits for another call", []edit{
		{"journal/submit.go", "case known.state == Refused && c.accepts == afterRefusal && known.intent.Sender != c.queried:", "case known.state == Refused && c.accepts == afterRefusal && known.intent.Sender != c.queried && time.Since(c.asked.At) < 5*time.Millisecond:"},
	}},
	{"absent-too-early", "a payment is presumed absent as soon as a query does not find it", []edit{
		{"journal/query.go", "func (j *Journal) isOld(in Intent) bool { return j.clock.earliest().Sub(in.At) >= j.opts.AbsentAfter }", "func (j *Journal) isOld(in Intent) bool { return j.clock.earliest().Sub(in.At) >= 0 }"},
	}},
	{"ack-of-what-was-never-told", "Ack acknowledges what was recorded last, not what was stored", []edit{
		{"journal/methods.go", "case now != stored:", "case now != stored && false:"},
	}},
	{"run-acks-what-others-were-told", "Run acknowledges what was recorded last, not what it reported", []edit{
		{"journal/run.go", "failed = j.ack(context.WithoutCancel(ctx), e)", "failed = j.Ack(ctx, e.ID(), func() State { now, _ := j.get(ctx, e.Key()); return now.State() }())"},
	}},
	{"lease-never-expires", "a process that was killed keeps the lease: nobody works any more", []edit{
		{"journal/store.go", "l.holder == holder || !now.Before(l.until) || ", "l.holder == holder || l.until.IsZero() || "},
	}},
	{"lease-for-everybody", "the store leases the shop to everybody who asks", []edit{
		{"journal/store.go", "now := time.Now(); l.holder == holder || ", "now := time.Now(); l.holder != \"\" || "},
	}},
	{"lease-of-another-believed", "a process works although another one has the lease", []edit{
		{"journal/lease.go", "		l.sent = time.Time{}\n", "		l.sent = sent\n"},
	}},
	{"lease-not-ended", "a process that cannot renew its lease goes on reporting", []edit{
		{"journal/lease.go", "	if l.left() > 0 {\n		return true\n	}\n	if l.end", "	if !l.sent.IsZero() {\n		return true\n	}\n	if l.end"},
	}},
	{"not-renewed-while-reporting", "the lease is not renewed while the merchant's function runs", []edit{
		{"journal/run.go", "	failed := r.report(ctx, *e)\n", "	if r.lease != nil {\n		r.lease.busy.Store(true)\n		defer r.lease.busy.Store(false)\n	}\n	failed := r.report(ctx, *e)\n"},
		{"journal/lease.go", "	hasNews atomic.Bool ", "	busy, hasNews atomic.Bool "},
		{"journal/lease.go", "if now := time.Now(); failing || !now.Before(next) {", "if now := time.Now(); !l.busy.Load() && (failing || !now.Before(next)) {"},
	}},
	{"news-not-told", "a process that stands by keeps to itself what it confirms", []edit{
		{"journal/lease.go", "return struct{}{}, l.store.AddNews(ctx, shop) })", "return struct{}{}, nil })"},
	}},
	{"news-not-seen", "the process that works does not notice what another one confirms", []edit{
		{"journal/lease.go", "			l.hasNews.Store(true)\n", ""},
	}},
	{"confirmed-not-reported", "Run does not wake for what its own process confirms", []edit{
		{"journal/run.go", "case len(confirmed) > 0:", "case len(confirmed) > 0 && false:"},
	}},
	{"never-begun-not-reported", "an order whose call never began is never reported", []edit{
		{"journal/paying.go", "now.Sub(p.since) >= longestFlight", "now.Sub(p.since) >= 100*longestFlight"},
	}},
	{"begun-called-never-begun", "what is being paid is recorded as not sent although its call began", []edit{
		{"journal/paying.go", "if err == nil {\n\t\treturn j.endUnbegun(ctx, e)\n\t}\n", ""},
		{"journal/paying.go", "if !errors.Is(err, ErrNoEntry) {", "if err != nil && !errors.Is(err, ErrNoEntry) {"},
		{"journal/paying.go", "if err != nil || !created {", "if err != nil || created && false {"},
	}},
	{"decline-final-on-hosted-page", "one decline on the hosted page ends the payment", []edit{
		{"journal/query.go", "case ev.State == Declined && known.intent.onHostedPage() && got.code() == cardgateway.CodeFailed && !abandoned:\n\t\tev.State = Pending // one attempt: the cardholder may try another card\n", ""},
	}},
	{"old-attempt-final", "Confirm of an attempt that was declined ends an old payment, which another attempt has made", []edit{
		{"journal/methods.go", "j.evidenceOfRow(s, known, false)", "j.evidenceOfRow(s, known, true)"},
	}},
	{"decline-of-repetition-final", "the decline of a repeated submission ends the payment, although the first one may arrive", []edit{
		{"journal/query.go", "case ev.State == Declined && !known.once && !known.reverses(&ev) && !(sole && j.isOld(known.intent)):", "case ev.State == Declined && false:"},
	}},
	{"interpreted-with-old-entry", "what a query showed is interpreted as if the payment had not been submitted again meanwhile", []edit{
		{"journal/query.go", "for range mostChanges {\n\t\tfor _, ev := range meaning(e.project()) {", "before := e.project()\n\tfor range mostChanges {\n\t\tfor _, ev := range meaning(before) {"},
	}},
	{"repetition-resolved-as-sent-once", "Resolve takes the only decline of a payment that was submitted again as its outcome", []edit{
		{"internal/resolve/resolve.go", "if c.SentAgain {\n\t\tnotFinal = ErrRepeated", "if false {\n\t\tnotFinal = ErrRepeated"},
	}},
	{"repetition-called-sent-once", "the error of an unknown outcome does not say that the payment was submitted again", []edit{
		{"journal/outcome.go", "all.SentAt, all.SentAgain, all.Seen = p.sentAt, !p.once, all.Seen || shown\n\t\treturn &all\n\tcase *cardgateway.Refund", "all.SentAt, all.SentAgain, all.Seen = p.sentAt, false, all.Seen || shown\n\t\treturn &all\n\tcase *cardgateway.Refund"},
	}},
	{"declined-then-absent", "what the gateway declined with an id of its own is presumed absent later", []edit{
		{"journal/outcome.go", "ev.Seen = got.id() != \"\" // with", "ev.Seen = false // with"},
	}},
	{"one-conflict-forgotten", "a success after a negative outcome is no conflict", []edit{
		{"journal/state.go", "p.conflict = p.conflict || p.ruledOut || ", "p.conflict = p.conflict || "},
	}},
	{"second-success-hidden", "two successes of one payment count as one", []edit{
		{"internal/resolve/resolve.go", "case !c.areCharges(e.approved):", "case !c.areCharges(e.approved) && false:"},
	}},
	{"unknown-called-not-sent", "an answer that was cut off counts as not sent", []edit{
		{"internal/verdict/verdict.go", "return r.failed(), r.Failure", "return NotSent, r.Failure"},
	}},
	{"5xx-called-refused", "a server error counts as a refusal", []edit{
		{"internal/verdict/verdict.go", "[]int{400, 401, 403, 404, 405, 413, 415, 422, 429}", "[]int{400, 401, 403, 404, 405, 413, 415, 422, 429, 500, 502, 503, 504}"},
	}},
	{"answer-of-another-payment", "a well-formed success of another payment is believed", []edit{
		{"internal/verdict/verdict.go", "case says.Contradicts != nil:\n\t\treturn Unknown, says.Contradicts\n", ""},
	}},
	{"repeat-without-proof", "the client repeats a payment of unknown outcome", []edit{
		{"internal/retry/retry.go", "again = a.Failed && a.ProvenUnsent", "again = a.Failed"},
	}},
	{"intent-after-sending", "a payment is sent although its intent could not be recorded", []edit{
		{"journal/submit.go", "return e, false, j.failUnsent(ctx, in, \"the intent could not be recorded\", err)", "return newEntry(in), true, nil"},
	}},
	{"waits-for-nobody", "a second process sends a payment that the first is sending", []edit{
		{"journal/submit.go", "return e, created || e.isJustSubmitted(in.Sender), nil", "return e, created || e.isJustSubmitted(in.Sender) || len(e.Evidence) == 0, nil"},
	}},
	{"outcome-not-recorded", "an outcome is returned although it could not be recorded", []edit{
		{"journal/submit.go", "if failed != nil {\n\t\treturn j.notRecorded(r, e.project(), got, err, failed)\n\t}\n", "if failed != nil {\n\t\treturn got, err\n\t}\n"},
	}},
	{"refund-mixed-up", "ResolveRefund believes the row of another refund of the payment", []edit{
		{"refund.go", "Ours:     r.MerchantRefundID == q.RefundTransactionID && r.UniqueID == q.UniqueID,", "Ours:     r.UniqueID == q.UniqueID,"},
	}},
	{"month-not-recounted", "a walk does not count a month again at its end", []edit{
		{"internal/walk/step.go", "return b.final && (b.restored || b.windows > 1)", "return false"},
	}},
	{"young-rows-complete", "a walk claims to be complete up to now", []edit{
		{"internal/walk/walk.go", "if mark := now.Add(-c.Lag); mark.Before(end) {", "if mark := now; mark.Before(end) {"},
	}},
	{"month-boundary-twice", "a walk gives rows at the boundary of two months twice", []edit{
		{"internal/walk/walker.go", "if last := row.lastSecond(); last >= nextQuery {", "if last := row.lastSecond(); last >= nextQuery && false {"},
	}},
	{"capped-total-believed", "a walk believes a total that is capped at the size of a page", []edit{
		{"internal/walk/windowreader.go", "if r.lastPage != r.total || r.lastPage != r.granted {", "if true {"},
	}},
	{"row-of-old-generation-counts", "a walk counts rows that the gateway no longer has", []edit{
		{"internal/walk/windowreader.go", "r.inside, r.distinct, r.distinctAtRoundStart, r.stableRounds = 0, 0, 0, 0\n", ""},
	}},
	{"checkpoint-before-rows", "a checkpoint is beyond rows that the caller did not get", []edit{
		{"internal/walk/walker.go", "if s.kind == window {\n\t\tp, err", "if s.kind == window {\n\t\tw.windowDone(s)\n\t\tp, err"},
	}},
	{"notification-believed", "a notification is handled although the gateway shows another transactionId", []edit{
		{"notify/confirm.go", "if claimed := n.Claimed.TransactionID; claimed != \"\" && claimed != n.Transaction.TransactionID {\n\t\treturn errContradicted\n\t}\n", ""},
	}},
	{"notification-of-another-app", "a notification that names a payment of another app is handled", []edit{
		{"notify/confirm.go", "case isOtherApp(row):", "case false && isOtherApp(row):"},
	}},
	{"slow-refund-not-confirmed", "a refund that took more than a month is not confirmed", []edit{
		{"notify/confirm.go", "errors.Is(err, errNoRefund) && !at.IsZero()", "errors.Is(err, errNoRefund) && false && !at.IsZero()"},
	}},
	{"nil-request-body-panics", "a notification without a body ends in a panic", []edit{
		{"notify/handler.go", "if r.Body == nil {", "if false {"},
	}},
	{"notification-handled-twice", "a repeated notification is handled again", []edit{
		{"notify/handler.go", "case claim == ClaimHandled:\n\t\treturn true, nil\n", "case claim == ClaimHandled && false:\n\t\treturn true, nil\n"},
	}},
	{"second-token", "a second token of one order replaces the first", []edit{
		{"notify/firsttoken.go", "return known && !same", "return known && !same && false"},
		{"notify/firsttoken.go", "if known && !hmac.Equal(first.hash[:], hash[:]) {", "if known && !hmac.Equal(first.hash[:], hash[:]) && false {"},
	}},
	{"copy-misses-late-rows", "an update of the books reads nothing again: rows that the gateway lists late are missing", []edit{
		{"internal/reconcile/books/sync.go", "again := max(rereadAlways, s.Again)", "again := s.Again"},
	}},
	{"copy-misses-late-weeks", "no update of the books reads four weeks again", []edit{
		{"internal/reconcile/books/sync.go", "again = max(rereadDaily, again)", "again = max(rereadAlways, again)"},
	}},
	{"copy-keeps-open-rows", "old payments that are open in the books are not asked again", []edit{
		{"internal/reconcile/books/ask.go", "if !isDue(at.asked, at.begun) {", "if true {"},
	}},
	{"copy-complete-too-early", "the books claim to be complete up to now", []edit{
		{"internal/reconcile/books/sync.go", "\t\t\tat.complete = complete\n", "\t\t\tat.complete = at.begun\n"},
	}},
	{"copy-keeps-gone-rows", "a row that the gateway no longer shows stays in the books", []edit{
		{"internal/reconcile/books/sync.go", "dropped, err = s.dropGone(ctx, tx, r.table, micro(start), micro(complete), at.number, s.AcceptGone, s.Now())\n", ""},
	}},
	{"copy-forgets-resumed-rows", "the rows of an interrupted walk of the books count as gone when it is resumed", []edit{
		{"internal/reconcile/books/sync.go", "if at.underWay() {\n", "if at.underWay() {\n\t\tat.number++\n"},
	}},
	{"copy-loses-rows-of-failed-walk", "the books save the checkpoint of a walk that fails, and not its rows", []edit{
		{"internal/reconcile/books/sync.go", "return errors.Join(err, keep())", "batch = batch[:0]\n\t\t\treturn errors.Join(err, keep())"},
	}},
	{"copy-forgets-amounts", "a row without an amount removes the one that the books have", []edit{
		{"internal/reconcile/books/save.go", "if slices.ContainsFunc(rows, isShort) {", "if slices.ContainsFunc(rows, isShort) && false {"},
	}},
	{"copy-records-no-late-rows", "the books do not record that a row came late", []edit{
		{"internal/reconcile/books/save.go", "WHERE now.at > 0 AND now.at < $2 AND NOT EXISTS", "WHERE now.at < 0 AND now.at < $2 AND NOT EXISTS"},
	}},
	{"copy-compares-other-apps", "payments of other apps are compared", []edit{
		{"internal/reconcile/books/stream.go", "if b.AnyApp {", "if true {"},
	}},
	{"copy-compares-refunds-of-other-apps", "refunds of payments of other apps are compared", []edit{
		{"internal/reconcile/books/schema.sql", "AND o.other_app <> '');", "AND o.other_app <> '' AND false);"},
	}},
	{"refund-without-currency", "a refund that states no currency has none, although its payment has one", []edit{
		{"internal/reconcile/books/comparing.go", "refundCurrency = `CASE WHEN r.currency = '' THEN COALESCE(p.currency, '') ELSE r.currency END`", "refundCurrency = `r.currency`"},
	}},
	{"refund-without-time", "a refund without a time is not compared with its payment", []edit{
		{"internal/reconcile/books/comparing.go", "WHERE r.at >= $1 AND r.at < $2 OR r.at = 0\n", "WHERE r.at >= $1 AND r.at < $2\n"},
	}},
	{"last-row-compared", "a comparison believes a decline after a success", []edit{
		{"internal/reconcile/match/pair.go", "if p.row == nil || weight(rows[i].State) >= weight(p.row.State) {", "if true {"},
	}},
	{"refunds-share-an-id", "refunds of two payments with one id count as one refund made twice", []edit{
		{"internal/reconcile/match/pair.go", "return r.Payment == rows[i].Payment }", "return true }"},
	}},
	{"repeated-payment-as-several", "an order of which one payment was charged twice counts as paid under several ids", []edit{
		{"internal/reconcile/match/several.go", "if !severalIDs(rows) || ", "if len(rows) < 2 || "},
	}},
	{"no-grace-at-the-end", "a payment near the end of the period and of the list is called missing", []edit{
		{"internal/reconcile/match/classify.go", "return t.Before(from.Add(k.Grace)) || !t.Before(to.Add(-k.Grace))", "return t.Before(from.Add(k.Grace))"},
	}},
	{"far-rows-compared", "rows just before the period are not compared with its lines", []edit{
		{"internal/reconcile/match/compare.go", "r.At.Before(k.Period.From.Add(-k.Grace))", "r.At.Before(k.Period.From.Add(k.Grace))"},
	}},
	{"listed-twice-as-amount", "a repeated line of a list is called another amount", []edit{
		{"internal/reconcile/match/classify.go", "case len(p.paid) > 0 && p.once()", "case false && p.once()"},
	}},
	{"period-with-its-end", "a row in the first second after a period belongs to it", []edit{
		{"internal/reconcile/match/options.go", "&& t.Before(s.To) }", "&& !t.After(s.To) }"},
	}},
	{"bridge-without-other-currency", "a bridge leaves out what the list has in another currency", []edit{
		{"internal/reconcile/match/summary.go", "if !slices.ContainsFunc(gateway, func(g total) bool { return g.currency == at.currency }) {", "if false {"},
	}},
	{"bridge-counts-open-rows", "the total of the gateway has payments that are not final", []edit{
		{"internal/reconcile/match/summary.go", "\tif r.State == books.StateApproved {\n", "\tif r.State != books.StateDeclined {\n"},
	}},
	{"young-state-as-error", "what became final a moment ago is an error in the list", []edit{
		{"internal/reconcile/match/classify.go", "young := !p.row.At.Before(k.Copy.To.Add(-k.Grace))", "young := false"},
	}},
	{"unreadable-hides-lines", "a line that cannot be read hides others with its id", []edit{
		{"internal/reconcile/match/compare.go", "if found.class == ClassUnreadable && len(lines) > 0 {", "if false {"},
	}},
	{"refund-of-declined-payment", "a refund of a payment that was not paid is not above it", []edit{
		{"internal/reconcile/match/several.go", "if payment.State != books.StateApproved {", "if false {"},
	}},
	{"refunds-of-other-periods", "earlier refunds of a payment do not count when a later one exceeds it", []edit{
		{"internal/reconcile/match/several.go", "case payment == nil || r[0].State != books.StateApproved:", "case payment == nil || r[0].State != books.StateApproved || !m.counts(&r[0]):"},
	}},
	{"lines-of-other-periods", "lines of other periods are counted", []edit{
		{"internal/reconcile/match/compare.go", "\t\treturn k.Period.holds(l.At)\n", "\t\treturn true\n"},
	}},
}
