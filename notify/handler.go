package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// Options says how a handler receives. The zero value is safe for everything but tokens, which need TokenURLs.
type Options struct {
	// Verify, if set, decides before anything is asked whether a notification may come from the gateway; an error refuses
	// it with HTTP 403. See SignatureSHA256 for the published signature and AnySignature for changing its key. It sees
	// claims only. What needs the request itself, such as the sender's address, belongs into a handler around this one.
	Verify func(*Notification) error
	// Deduper keeps repeated notifications from being handled again; nil means a MemoryDeduper of its own.
	Deduper Deduper
	// TokenURLs recognizes the URLs that it made for token orders. A token is handed over only if it came to the URL for
	// its transactionId; any other notification with a token is refused with HTTP 403. The first token of a transaction
	// stays its only one for as long as this process remembers, which is 10,000 transactions: store it so that a second
	// one cannot replace it. Only a decline makes room for another: store a token when Transaction.Paid says so.
	TokenURLs *TokenURLs
	// AllowUnboundTokens hands over tokens that did not come to a URL of TokenURLs, with Notification.Bound false. Whoever
	// can send to the handler can then bring a token of his own.
	AllowUnboundTokens bool
	// TokenMember is the name of the member that holds the token, which the interface does not show; empty means that the
	// likely ones are tried, see Parse.
	TokenMember string
	// QueriesPerSecond bounds, where Verify is not set, what the notifications of any one second make the handler ask the
	// gateway; zero or less means 10, and 2 is the least. One above it gets HTTP 503 and comes again, a few times. Without
	// Verify, a flood of forged ones uses this up, and real ones are lost: see Info.Throttled. What Verify has passed is
	// bounded only by what is in flight, see NewHandler; to ask a gateway no faster than it allows, use Config.Limiter.
	QueriesPerSecond int
	// Observe, if set, is called once for each request, also at the same time for several: a place for metrics and alerts.
	Observe func(context.Context, Info)
	// Logger, if set, gets one line per notification, with the merchant's own errors: at warn level where it was not
	// handled, and the first time that it was refused for what can be a wrong setting or turned away for a bound; at debug
	// level otherwise, since anybody can send one. Observe counts them all.
	Logger *slog.Logger
}

// NewHandler returns a handler for what the gateway sends to notificationUrl ("Events"). The interface shows neither the
// payload nor a signature nor what it expects as acknowledgement; published are POST with JSON, that only HTTP 200 counts
// as accepted, and that a notification which was not comes again 5 s, 5, 15 and 30 min later, then never.
//
// A payload moves nothing. The handler asks the gateway for the transaction that it names, with GetTransaction, for a
// refund also with SearchRefunds, and calls handle with what the gateway confirms in Transaction and Refund. What the
// payload says is in Claimed. A chargeback cannot be confirmed by any query: take it as a reason to look.
//
// handle is called once for each event, which is a kind, the ids and the confirmed code, with or without a token; of a kind
// that no query confirms, only an identical payload is the same event. After an error, a panic or a crash it is called
// again with the next repetition, so it must be able to meet an event twice; it should store what it learns and return
// soon, since the gateway waits. Its context is the request's. Without it, or without a client, NewHandler panics.
//
// The responses, none of which says anything of the payload:
//
//   - 200: handle returned nil, or had done so before for the same event.
//   - 400, 405, 413, 415: it is not a notification: see Parse; POST only, 64 KiB at most, not compressed.
//   - 403: Verify refused it, or its token did not come to its own URL.
//   - 409: the gateway says another transactionId, or the transaction has had another token before.
//   - 503: it could not be confirmed yet, or handle failed. This holds for an id that the gateway does not know, too: a
//     notification can be earlier than the gateway's own records, and comes again, while a forger gains nothing.
//
// However many notifications come, one at a time is asked about and handled for each id, and 128 in all. What Verify has
// passed waits for its turn, up to 5 s and 4,096 at once, before it gets 503; a lost token cannot be asked for. Anything
// else may be forged, and is let in only as QueriesPerSecond allows. Memory is bounded too. Give the server a ReadTimeout.
// Notifications get lost: settle open payments by Resolve or package journal, and reconcile by Orders and Refunds, whatever
// comes here.
//
// On the hosted page a cardholder whose card was declined may try another: a decline can be followed by an approval of the
// same transactionId, which is another event. Whatever comes, compare amount and currency with your own order: that a
// notification is genuine does not say that it is about what was ordered. Where the credentials serve several apps, set
// Config.CheckAppID too: without it, a transaction of another app is confirmed like one of this.
func NewHandler(client *cardgateway.Client, opts Options, handle func(context.Context, *Notification) error) http.Handler {
	if client == nil || handle == nil {
		panic("notify: NewHandler needs a client and a function that handles")
	}
	h := &handler{
		opts: opts, handle: handle, gateway: newConfirmer(client), admission: newAdmission(opts.QueriesPerSecond),
		reporter: reporter{logger: opts.Logger, observe: opts.Observe},
		handled:  NewMemoryDeduper(0), tokens: newFirstTokens(), tokenMembers: likelyTokenMembers,
	}
	if opts.TokenMember != "" {
		h.tokenMembers = []string{opts.TokenMember}
	}
	if opts.Deduper == nil {
		h.opts.Deduper = h.handled
	}
	return h
}

type handler struct {
	opts         Options
	handle       func(context.Context, *Notification) error
	gateway      confirmer
	admission    *admission
	reporter     reporter
	handled      *MemoryDeduper // by this process: asked first, so that repetitions cost nothing
	tokens       *firstTokens
	tokenMembers []string
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// If a function of the merchant's panics, that is what is reported: net/http then ends the connection without a
	// response, and logs the panic.
	info := Info{Status: http.StatusServiceUnavailable, Err: errPanicked}
	begun := time.Now()
	defer func() {
		info.Duration = time.Since(begun)
		h.reporter.report(r.Context(), info)
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

// read reads the request, and refuses what is no notification or not the gateway's.
func (h *handler) read(w http.ResponseWriter, r *http.Request) (*Notification, error) {
	if r.Method != http.MethodPost {
		return nil, errNotPost
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, errMediaType
	}
	if r.ContentLength > maxBody {
		return nil, errTooLong
	}
	if r.Body == nil { // net/http's server always sets it, an adapter of another one need not
		return nil, unreadable("has no body")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return nil, errTooLong
	}
	if err != nil {
		return nil, errNotWhole
	}
	n, err := parse(body, r.Header.Get("Content-Type"), h.tokenMembers)
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

// process confirms a notification and hands it to the merchant.
func (h *handler) process(r *http.Request, n *Notification, info *Info) (err error) {
	if info.Repeated = h.isRepeated(n); info.Repeated {
		return nil
	}
	release, err := h.admit(r.Context(), n, info)
	if err != nil {
		return err
	}
	defer release()
	if info.Repeated = h.isRepeated(n); info.Repeated { // the one that this one has waited for
		return nil
	}
	if err := h.gateway.confirm(r.Context(), n); err != nil {
		if isUnauthorized(err) {
			err = fmt.Errorf("%w: %w", errUnauthorized, err)
		}
		return err
	}
	redactFacts(n)
	if n.Transaction.State() == cardgateway.StateDeclined {
		h.tokens.declined(n.Transaction.TransactionID)
	}
	if err := h.checkToken(r, n); err != nil {
		return err
	}
	if n.Token.IsZero() && !n.showsClaim() {
		return errNotShown
	}
	info.Repeated, err = h.once(r.Context(), n)
	return err
}

// admit lets a notification in, at once or, if it is verified, when its turn comes.
func (h *handler) admit(ctx context.Context, n *Notification, info *Info) (release func(), err error) {
	if !info.Verified {
		return h.admission.admitNow(n.Claimed.subject(), n.Claimed.queries())
	}
	begun := time.Now()
	release, err = h.admission.admitInTurn(ctx, n.Claimed.subject())
	info.Waited = time.Since(begun)
	return release, err
}

// isRepeated reports whether this process has handled what the payload claims. That needs no query: if it is true, it is
// nothing new, and the gateway confirmed it then.
func (h *handler) isRepeated(n *Notification) bool {
	return n.Claimed.UniqueID != "" && h.handled.isHandled(n.claimedKey()) &&
		(n.Token.IsZero() || h.tokens.has(n.Claimed.TransactionID, n.Token))
}

// checkToken decides whether a token may be handed over.
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
	if h.tokens.hasOther(id, n.Token) {
		return errOtherToken
	}
	return nil
}

// once calls handle unless the event has been handled or is being handled.
func (h *handler) once(ctx context.Context, n *Notification) (repeated bool, err error) {
	key := n.eventKey()
	claim, err := h.opts.Deduper.Claim(ctx, key)
	switch {
	case err != nil:
		return false, fmt.Errorf("notify: the Deduper could not claim a notification: %w", err)
	case claim == ClaimHandled:
		return true, nil
	case claim != ClaimFresh:
		return false, errClaimed
	}
	handled := false
	defer func() { h.endClaim(ctx, key, handled) }() // also if handle panics
	if !n.Token.IsZero() && !h.tokens.accept(n.Transaction, n.Token) {
		return false, errOtherToken
	}
	if err := h.handle(ctx, n); err != nil {
		return false, fmt.Errorf("%w: %w", errNotHandled, err)
	}
	handled = true
	return false, nil
}

// endClaimTimeout bounds the end of a claim, which does not end with the request.
const endClaimTimeout = 5 * time.Second

// endClaim tells the Deduper that a claimed event has been handled, or is free to be claimed again. It does so even if the
// gateway has hung up meanwhile: a claim that is never ended would make every repetition busy. An error is no reason to
// refuse the notification: at worst a repetition is handled once more.
func (h *handler) endClaim(ctx context.Context, key string, handled bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endClaimTimeout)
	defer cancel()
	if err := h.opts.Deduper.Done(ctx, key, handled); err != nil {
		h.reporter.claimNotEnded(ctx, handled, err)
	}
	if handled && h.opts.Deduper != Deduper(h.handled) {
		_ = h.handled.Done(ctx, key, true) // never fails
	}
}
