package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// Options configures a handler. The zero value is safe, but rejects every token: tokens need TokenURLs.
type Options struct {
	// Verify, if set, decides before any query whether a notification may come from the gateway; an error rejects it with
	// HTTP 403. See SignatureSHA256 for the published signature and AnySignature for key rotation. The notification that it
	// gets has claims only. A check of the request itself, such as the sender's address, belongs in a handler around this
	// one.
	Verify func(*Notification) error
	// Deduper prevents repeated notifications from being handled again. Nil means a new MemoryDeduper.
	Deduper Deduper
	// TokenURLs recognizes the URLs that it created for token orders. A token is passed to the merchant's function only if
	// it came to the URL for its transactionId; any other notification with a token is rejected with HTTP 403. The first
	// token of a transaction remains its only one for as long as this process remembers, which is 10,000 transactions:
	// store it so that a second one cannot replace it. Only after a decline can another token follow: store a token only if
	// Transaction.Paid is true, and return an error while the transaction is not declined either. Then it comes again, and no
	// query returns it.
	TokenURLs *TokenURLs
	// AllowUnboundTokens also passes on tokens that did not come to a URL of TokenURLs, with Notification.Bound false.
	// Anyone who can send to the handler can then submit a token of their own.
	AllowUnboundTokens bool
	// TokenMember is the name of the member that holds the token, which the interface does not document. Empty means that
	// the likely names are tried, see Parse.
	TokenMember string
	// QueriesPerSecond limits the queries to the gateway in any one second if Verify is not set. Zero or less means 10; the
	// minimum is 3. A notification above the limit gets HTTP 503, and the gateway repeats it a few times. Without Verify,
	// forged notifications can use up this limit, so that genuine ones are lost: see Info.Throttled. Notifications that
	// passed Verify are limited only by the number handled at once, see NewHandler; for a rate limit of the gateway, use
	// Config.Limiter.
	QueriesPerSecond int
	// Observe, if set, is called once for each request, possibly concurrently: use it for metrics and alerts.
	Observe func(context.Context, Info)
	// Logger, if set, gets one line per notification, with the merchant's own errors. The level is warn if your function or the
	// Deduper failed, and also the first time that one was rejected for a reason that may be a wrong setting, or because
	// of a limit. Otherwise it is debug, because anybody can send notifications, also if the query failed: the client's logger has
	// that. Observe counts them all.
	Logger *slog.Logger
}

// NewHandler returns a handler for what the gateway sends to notificationUrl ("Events"). The interface documents neither
// the payload nor a signature nor the expected acknowledgement. Published are POST with JSON, that only HTTP 200 counts as
// accepted, and that a notification that was not accepted is repeated 5 s, 5, 15 and 30 min after the first failure, then
// never again.
//
// A payload alone changes nothing. The handler queries the gateway for the transaction that it names, with GetTransaction
// (SearchOrders if it has only the merchant's id), for a refund also with SearchRefunds, and calls handle with what the
// gateway confirms in Transaction and Refund. What the payload says is in Claimed. No query can confirm a chargeback: treat
// it as a reason to check manually.
//
// handle is called once for each event. An event is identified by its kind, the ids and the confirmed code, with or without
// a token; for a kind that no query confirms, only an identical payload is the same event. After an error, a panic or a
// crash, handle is called again with the next repetition, so it must be idempotent. It should store what it learns and
// return soon, because the gateway waits. Its context is the context of the request. NewHandler panics if handle or client
// is nil.
//
// The responses, none of which reveals anything about the payload:
//
//   - 200: handle returned nil, now or earlier for the same event.
//   - 400, 405, 413, 415: the request is not a notification: see Parse; only POST, at most 64 KiB, not compressed.
//   - 403: Verify rejected it, or its token did not come to its own URL.
//   - 409: the gateway returned another transactionId, or the transaction has had another token before.
//   - 503: it could not be confirmed yet, or handle failed, or a limit was reached. This includes an id that the gateway
//     does not know: a notification can arrive before the gateway's own records are updated, and is repeated, while a
//     forger gains nothing.
//
// However many notifications arrive, one at a time is confirmed and handled for each id, and 128 in total. Those that
// passed Verify wait for their turn, up to 5 s and 4,096 at once, before they get 503, because a lost token cannot be
// queried. Others may be forged, and are admitted only as QueriesPerSecond allows. Memory is bounded as well. Set a
// ReadTimeout on the server. Notifications can be lost: also resolve open payments with Resolve or package journal, and
// reconcile with Orders and Refunds.
//
// On the hosted page a cardholder whose card was declined may try another one: a decline can be followed by an approval of
// the same transactionId, which is another event. Always compare amount and currency with your own order: a genuine
// notification is not necessarily about what was ordered. A transaction of another app, which the same credentials can
// query, gets 503 and is not passed to handle, unless Config.AnyAppID is set.
func NewHandler(client *cardgateway.Client, opts Options, handle func(context.Context, *Notification) error) http.Handler {
	if client == nil || handle == nil {
		panic("notify: NewHandler: client and handle must not be nil")
	}
	h := &handler{
		opts: opts, handle: handle, confirmer: newConfirmer(client), admission: newAdmission(opts.QueriesPerSecond),
		handled: NewMemoryDeduper(0), tokens: newFirstTokens(), tokenMembers: likelyTokenMembers,
	}
	if opts.TokenMember != "" {
		h.tokenMembers = []string{opts.TokenMember}
	}
	if opts.Deduper == nil {
		h.opts.Deduper = h.handled
	}
	if opts.Logger == nil {
		h.opts.Logger = slog.New(slog.DiscardHandler)
	}
	return h
}

type handler struct {
	opts         Options
	handle       func(context.Context, *Notification) error
	confirmer    confirmer
	admission    *admission
	handled      *MemoryDeduper // by this process: checked first, so that repetitions cost no query
	tokens       *firstTokens
	tokenMembers []string
	warned       sync.Map // errors of warnOnce that have been reported
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// If a function of the merchant panics, this is what is reported: net/http then closes the connection without a
	// response, and logs the panic.
	info := Info{Status: http.StatusServiceUnavailable, Err: errPanicked}
	begun := time.Now()
	defer func() {
		info.Duration = time.Since(begun)
		h.report(r.Context(), info)
	}()
	n, err := h.read(w, r)
	if err == nil {
		info.Kind, info.UniqueID, info.Verified = n.Claimed.Kind, n.Claimed.UniqueID, h.opts.Verify != nil
		err = h.process(r, n, &info)
	}
	info.Status, info.Err = statusOf(err), err
	if info.Status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	w.WriteHeader(info.Status)
}

// read reads the request, and rejects what is not a notification or does not pass Verify.
func (h *handler) read(w http.ResponseWriter, r *http.Request) (*Notification, error) {
	if r.Method != http.MethodPost {
		return nil, errNotPost
	}
	if r.ContentLength > maxBody {
		return nil, errTooLong
	}
	if r.Body == nil { // net/http's server always sets it, adapters of other servers may not
		return nil, unreadable("has no body")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return nil, errTooLong
	}
	if err != nil {
		return nil, errNotWhole
	}
	media := r.Header.Get("Content-Type")
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		media = "" // it is compressed, unless it can be read: some servers name a charset there, and a lost token does not come again
	}
	n, err := parse(body, media, h.tokenMembers)
	if err != nil {
		return nil, err
	}
	if h.opts.Verify != nil {
		if err := h.opts.Verify(n); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotVerified, err)
		}
	}
	if n.Claimed.subject() == "" {
		return nil, errNothingToAsk
	}
	return n, nil
}

// process confirms a notification and passes it to the merchant's function.
func (h *handler) process(r *http.Request, n *Notification, info *Info) (err error) {
	if info.Repeated = h.isRepeated(n); info.Repeated {
		return nil
	}
	release, err := h.admit(r.Context(), n, info)
	if err != nil {
		return err
	}
	defer release()
	if info.Repeated = h.isRepeated(n); info.Repeated { // by the notification that this one has waited for
		return nil
	}
	if err := h.confirmer.confirm(r.Context(), n); err != nil {
		if isUnauthorized(err) {
			err = fmt.Errorf("%w: %w", errUnauthorized, err)
		}
		return err
	}
	if n.Transaction.State() == cardgateway.StateDeclined {
		h.tokens.declined(n.Transaction.TransactionID)
	}
	if err := h.checkToken(r, n); err != nil {
		return err
	}
	if err := n.shown(); err != nil {
		return err
	}
	info.Repeated, err = h.handleOnce(r.Context(), n)
	return err
}

// admit admits a notification: at once or, if it is verified, when its turn comes.
func (h *handler) admit(ctx context.Context, n *Notification, info *Info) (release func(), err error) {
	if !info.Verified {
		return h.admission.admitNow(n.Claimed.subject(), n.Claimed.queries())
	}
	begun := time.Now()
	release, err = h.admission.admitInTurn(ctx, n.Claimed.subject())
	info.Waited = time.Since(begun)
	return release, err
}

// isRepeated reports whether this process has already handled what the payload claims. That needs no query: if the claim is
// true, the gateway confirmed it then.
func (h *handler) isRepeated(n *Notification) bool {
	if n.Claimed.UniqueID == "" || !h.handled.isHandled(n.claimedKey()) {
		return false
	}
	_, same := h.tokens.compare(n.Claimed.TransactionID, n.Token)
	return same || n.Token.IsZero()
}

// checkToken returns an error if the token must not be passed on.
func (h *handler) checkToken(r *http.Request, n *Notification) error {
	if n.Token.IsZero() {
		return nil
	}
	id := n.Transaction.TransactionID
	unbound := errNoTokenURLs
	if h.opts.TokenURLs != nil {
		unbound = h.opts.TokenURLs.Check(r.URL, id)
	}
	n.Bound = unbound == nil
	if !n.Bound && !h.opts.AllowUnboundTokens {
		return fmt.Errorf("%w: %w", errTokenURL, unbound)
	}
	if known, same := h.tokens.compare(id, n.Token); known && !same {
		return errOtherToken
	}
	return nil
}

// handleOnce calls handle unless the event has been handled or is being handled.
func (h *handler) handleOnce(ctx context.Context, n *Notification) (repeated bool, err error) {
	key := n.eventKey()
	claim, err := h.opts.Deduper.Claim(ctx, key)
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: %w", errNoClaim, err)
	case claim == ClaimHandled:
		return true, nil
	case claim != ClaimFresh:
		return false, errClaimed
	}
	handled := false
	defer func() { h.endClaim(ctx, key, handled) }() // also if handle panics
	// Checked again, and remembered in the same step: another token may have been accepted since checkToken.
	if !n.Token.IsZero() && !h.tokens.accept(n.Transaction, n.Token) {
		return false, errOtherToken
	}
	if err := h.handle(ctx, n); err != nil {
		return false, fmt.Errorf("%w: %w", errNotHandled, err)
	}
	handled = true
	return false, nil
}

// endClaimTimeout limits the end of a claim, which must not be canceled with the request.
const endClaimTimeout = 5 * time.Second

// endClaim tells the Deduper that a claimed event has been handled, or can be claimed again. It does so even if the request
// has been canceled: with a claim that never ends, every repetition would be ClaimBusy. An error does not reject the
// notification: at worst a repetition is handled once more.
func (h *handler) endClaim(ctx context.Context, key string, handled bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endClaimTimeout)
	defer cancel()
	end := h.opts.Deduper.Release
	if handled {
		end = h.opts.Deduper.Handled
		_ = h.handled.Handled(ctx, key) // always nil; first, because a Deduper or the logger may panic
	}
	if err := end(ctx, key); err != nil {
		h.claimNotEnded(ctx, handled, err)
	}
}
