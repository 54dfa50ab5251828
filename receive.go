package cardgateway

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
)

// NotificationOptions says how NotificationHandler receives. The zero value is safe for everything but tokens, which
// need TokenURLs.
type NotificationOptions struct {
	// Verify, if set, decides before anything is asked whether a notification may come from the gateway; an error
	// refuses it with HTTP 403. See SignatureSHA256 for the published signature and AnySignature for changing its
	// key. It sees claims only. What needs the request itself, such as the sender's address, belongs into a handler
	// around this one.
	Verify func(*Notification) error
	// Deduper keeps repeated notifications from being handled again; nil means a MemoryDeduper of its own.
	Deduper Deduper
	// TokenURLs recognizes the URLs that it made for token orders. A token is handed over only if it came to the
	// URL for its transactionId; any other notification with a token is refused with HTTP 403. The first token of
	// a transaction stays its only one for as long as this process remembers, which is 10,000 transactions: store
	// it so that a second one cannot replace it.
	TokenURLs *TokenURLs
	// AllowUnboundTokens hands over tokens that did not come to a URL of TokenURLs, with Notification.Bound false.
	// Whoever can send to the handler can then bring a token of his own.
	AllowUnboundTokens bool
	// TokenMember is the name of the member that holds the token, which the interface does not show; empty means
	// that the likely ones are tried, see ParseNotification.
	TokenMember string
	// QueriesPerSecond bounds what the notifications of any one second make the handler ask the gateway; zero or less
	// means 10, and 2 is the least. A notification above it is answered with HTTP 503 and comes again.
	// Without Verify, a flood of forged ones uses this up and makes real ones wait.
	QueriesPerSecond int
	// Observe, if set, is called once for each request, also at the same time for several: a place for metrics and
	// alerts.
	Observe func(context.Context, NotificationInfo)
}

// NotificationInfo says how a notification was received. It quotes nothing of the payload, unless an error of Verify,
// of the Deduper or of the merchant's function does.
type NotificationInfo struct {
	Kind     NotificationKind // as claimed
	UniqueID string           // as claimed, digits only; empty if there was none
	Status   int              // the HTTP status of the answer
	Repeated bool             // it had been handled before
	Err      error            // why the status is not 200; ErrNotFound among it if the gateway does not know the id
	Duration time.Duration
}

// NotificationHandler receives what the gateway sends to notificationUrl ("Events"). The interface shows neither the
// payload nor a signature nor what it expects as acknowledgement; published are POST with JSON, that only HTTP 200
// counts as accepted, and that a notification which was not comes again 5 s, 5, 15 and 30 min later, then never.
//
// A payload moves nothing. The handler asks the gateway for the transaction that it names, with GetTransaction, for a
// refund also with SearchRefunds, and calls handle with what the gateway confirms in Transaction and Refund. What the
// payload says is in Claimed. A chargeback cannot be confirmed by any query: take it as a reason to look.
//
// handle is called once for each event, which is a kind, the ids and the confirmed code, with or without a token; of a
// kind that no query confirms, only an identical payload is the same event. After an error, a panic or a
// crash it is called again with the next repetition, so it must be able to meet an event twice; it should store what
// it learns and return soon, since the gateway waits. Its context is the request's. Without it NotificationHandler
// panics.
//
// The answers, none of which says anything of the payload:
//
//   - 200: handle returned nil, or had done so before for the same event.
//   - 400, 405, 413, 415: it is not a notification: see ParseNotification; POST only, 64 KiB at most, not compressed.
//   - 403: Verify refused it, or its token did not come to its own URL.
//   - 409: the gateway says another transactionId, or the transaction has had another token before.
//   - 503: it could not be confirmed yet, or handle failed. This holds for an id that the gateway does not know, too:
//     a notification can be earlier than the gateway's own records, and comes again, while a forger gains nothing.
//
// However many notifications come, one at a time is asked about for each id, and no more of them are let in than
// QueriesPerSecond allows; memory is bounded too. Give the server a ReadTimeout. Notifications get lost:
// settle open payments by Resolve or package journal, and reconcile by Orders and Refunds, whatever comes here.
func (c *Client) NotificationHandler(opts NotificationOptions, handle func(context.Context, *Notification) error) http.Handler {
	if handle == nil {
		panic("cardgateway: NotificationHandler needs a function that handles")
	}
	h := &notificationHandler{
		opts: opts, handle: handle, logger: c.cfg.Logger, ask: newConfirmer(c), gate: newGate(opts.QueriesPerSecond),
		handled: NewMemoryDeduper(0), tokens: newFirstTokens(), tokenMembers: likelyTokenMembers,
	}
	if opts.TokenMember != "" {
		h.tokenMembers = []string{opts.TokenMember}
	}
	if opts.Deduper == nil {
		h.opts.Deduper = h.handled
	}
	return h
}

type notificationHandler struct {
	opts         NotificationOptions
	handle       func(context.Context, *Notification) error
	logger       *slog.Logger
	ask          confirmer
	gate         *gate
	handled      *MemoryDeduper // by this process: asked first, so that repetitions cost nothing
	tokens       *firstTokens
	tokenMembers []string
	warned       sync.Map // mistakes that have been said
}

func (h *notificationHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// If a function of the merchant's panics, that is what is reported: net/http then ends the connection without an
	// answer, and logs the panic.
	info := NotificationInfo{Status: http.StatusServiceUnavailable, Err: errPanicked}
	begun := time.Now()
	defer func() {
		info.Duration = time.Since(begun)
		h.report(r.Context(), info)
	}()
	n, err := h.read(w, r)
	if err == nil {
		info.Kind, info.UniqueID = n.Claimed.Kind, n.Claimed.UniqueID
		info.Repeated, err = h.process(r, n)
	}
	info.Status, info.Err = answerTo(err), err
	if info.Status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	w.WriteHeader(info.Status)
}

// read reads the request, and refuses what is no notification or not the gateway's.
func (h *notificationHandler) read(w http.ResponseWriter, r *http.Request) (*Notification, error) {
	if r.Method != http.MethodPost {
		return nil, errNotPost
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, errNotificationMedia
	}
	if r.ContentLength > maxNotification {
		return nil, errNotificationTooLong
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxNotification))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return nil, errNotificationTooLong
	}
	if err != nil {
		return nil, errNotWhole
	}
	n, err := parseNotification(body, r.Header.Get("Content-Type"), h.tokenMembers)
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

// Why a notification was not accepted, beyond what reading and confirming it can say.
var (
	errNotPost     = errors.New("cardgateway: a notification comes by POST")
	errNotWhole    = errors.New("cardgateway: the notification could not be read to its end")
	errNotVerified = errors.New("cardgateway: Verify refused the notification")
	errTokenURL    = errors.New("cardgateway: the notification's token did not come to its own URL")
	errNoTokenURLs = errors.New("cardgateway: there are no TokenURLs to recognize it by")
	errOtherToken  = errors.New("cardgateway: the transaction has had another token before")
	errNotHandled  = errors.New("cardgateway: the notification was not handled")
	errPanicked    = errors.New("cardgateway: a function of the merchant's panicked")
	errClaimed     = errors.New("cardgateway: the same event is being handled elsewhere")

	errUnauthorized = errors.New("cardgateway: the gateway does not accept the client's credentials")
)

// answerTo gives the HTTP status for an error or none. What is not the sender's fault is answered so that it comes
// again.
func answerTo(err error) int {
	switch {
	case err == nil:
		return http.StatusOK
	case errors.Is(err, errNotHandled): // first: the merchant's own error may be any
		return http.StatusServiceUnavailable
	case errors.Is(err, errNotVerified), errors.Is(err, errTokenURL):
		return http.StatusForbidden
	case errors.Is(err, errNotPost):
		return http.StatusMethodNotAllowed
	case errors.Is(err, errNotificationMedia):
		return http.StatusUnsupportedMediaType
	case errors.Is(err, errNotificationTooLong):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errNotWhole), errors.Is(err, errUnreadable), errors.Is(err, errNothingToAsk):
		return http.StatusBadRequest
	case errors.Is(err, errContradicted), errors.Is(err, errOtherToken):
		return http.StatusConflict
	}
	return http.StatusServiceUnavailable
}

// process confirms a notification and hands it to the merchant.
func (h *notificationHandler) process(r *http.Request, n *Notification) (repeated bool, err error) {
	if h.isRepeated(n) {
		return true, nil
	}
	leave, err := h.gate.enter(n.Claimed.subject(), n.Claimed.queries())
	if err != nil {
		return false, err
	}
	defer leave()
	if err := h.ask.confirm(r.Context(), n); err != nil {
		if isUnauthorized(err) {
			err = fmt.Errorf("%w: %w", errUnauthorized, err)
		}
		return false, err
	}
	said := outgoing{credentials: n.Token.needles()}
	said.scrubRow(n.Transaction)
	said.scrubRow(n.Refund)
	if err := h.admitToken(r, n); err != nil {
		return false, err
	}
	if n.Token.IsZero() && !n.isSettled() {
		return false, errNotSettled
	}
	return h.once(r.Context(), n)
}

// isUnauthorized reports whether a query was refused for its credentials.
func isUnauthorized(err error) bool {
	failed, ok := errors.AsType[*QueryError](err)
	return ok && (failed.HTTPStatus == http.StatusUnauthorized || failed.HTTPStatus == http.StatusForbidden || failed.Code == CodeUnauthorized)
}

// isRepeated reports whether this process has handled what the payload claims. That needs no query: if it is true,
// it is nothing new, and the gateway confirmed it then.
func (h *notificationHandler) isRepeated(n *Notification) bool {
	return n.Claimed.UniqueID != "" && h.handled.isHandled(n.claimedKey()) &&
		(n.Token.IsZero() || h.tokens.has(n.Claimed.TransactionID, n.Token))
}

// admitToken decides whether a token may be handed over.
func (h *notificationHandler) admitToken(r *http.Request, n *Notification) error {
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
func (h *notificationHandler) once(ctx context.Context, n *Notification) (repeated bool, err error) {
	key := n.eventKey()
	claim, err := h.opts.Deduper.Claim(ctx, key)
	switch {
	case err != nil:
		return false, fmt.Errorf("cardgateway: the Deduper could not claim a notification: %w", err)
	case claim == ClaimHandled:
		return true, nil
	case claim != ClaimFresh:
		return false, errClaimed
	}
	done := false
	defer func() { h.settle(ctx, key, done) }() // also if handle panics
	if !n.Token.IsZero() && !h.tokens.accept(n.Transaction.TransactionID, n.Token) {
		return false, errOtherToken
	}
	if err := h.handle(ctx, n); err != nil {
		return false, fmt.Errorf("%w: %w", errNotHandled, err)
	}
	done = true
	return false, nil
}

// settleTimeout bounds the end of a claim, which does not end with the request.
const settleTimeout = 5 * time.Second

// settle ends a claim. An error is not the gateway's business: at worst a repetition is handled once more.
func (h *notificationHandler) settle(ctx context.Context, key string, done bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := h.opts.Deduper.Done(ctx, key, done); err != nil && h.logger != nil {
		h.logger.LogAttrs(ctx, slog.LevelWarn, "cardgateway notification: the Deduper could not settle a claim",
			slog.Bool("handled", done), slog.String("error", err.Error()))
	}
	if done && h.opts.Deduper != Deduper(h.handled) {
		_ = h.handled.Done(ctx, key, true) // never fails
	}
}

// report writes one line and calls Observe. Anybody can cause lines at debug level; those above it need something
// that the gateway confirmed. What can be a mistake in the settings is said once above it, too.
func (h *notificationHandler) report(ctx context.Context, info NotificationInfo) {
	level := slog.LevelDebug
	if errors.Is(info.Err, errNotHandled) || errors.Is(info.Err, errOtherToken) {
		level = slog.LevelWarn
	}
	for _, mistake := range []error{errNoSecretKey, errNoTokenURLs, errNotVerified, errUnauthorized} {
		if errors.Is(info.Err, mistake) {
			if _, said := h.warned.LoadOrStore(mistake, true); !said {
				level = slog.LevelWarn
			}
		}
	}
	if h.logger != nil && h.logger.Enabled(ctx, level) {
		attrs := []slog.Attr{
			slog.String("kind", info.Kind.String()), slog.String("uniqueId", info.UniqueID),
			slog.Int("status", info.Status), slog.Bool("repeated", info.Repeated), slog.Duration("duration", info.Duration),
		}
		if info.Err != nil {
			attrs = append(attrs, slog.String("error", info.Err.Error()))
		}
		h.logger.LogAttrs(ctx, level, "cardgateway notification", attrs...)
	}
	if h.opts.Observe != nil {
		h.opts.Observe(ctx, info)
	}
}
