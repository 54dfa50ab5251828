package otel

import "go.opentelemetry.io/otel/attribute"

// Names that are specific to this package; the others are those of OpenTelemetry's semantic conventions for HTTP clients.
const (
	// OperationKey is the client's method, such as TokenPayment.
	OperationKey = attribute.Key("cardgateway.operation")
	// OutcomeKey is one of the constants of type cardgateway.Outcome.
	OutcomeKey = attribute.Key("cardgateway.outcome")

	// TransactionIDKey is the merchant's transaction id: of a payment, or the one that is searched for. Only spans have it.
	TransactionIDKey = attribute.Key("cardgateway.transaction_id")
	// RefundTransactionIDKey is the merchant's refund id: of a refund, or the one that is searched for. Only spans have it.
	RefundTransactionIDKey = attribute.Key("cardgateway.refund_transaction_id")
	// UniqueIDKey is the gateway's id of the payment that is refunded or searched for. Only spans have it.
	UniqueIDKey = attribute.Key("cardgateway.unique_id")
	// CodeKey is the gateway's code, if there was a response with one. Only spans have it.
	CodeKey = attribute.Key("cardgateway.code")
	// AttemptsKey is the number of attempts of a call. Only spans of kind client have it.
	AttemptsKey = attribute.Key("cardgateway.attempts")

	// AttemptEvent is the name of the span event of an attempt.
	AttemptEvent = "cardgateway.attempt"
	// AttemptNumberKey is the number of an attempt, counted from 1.
	AttemptNumberKey = attribute.Key("cardgateway.attempt.number")
	// AttemptDurationKey is the duration of an attempt in seconds.
	AttemptDurationKey = attribute.Key("cardgateway.attempt.duration")
	// AttemptSentKey says that this attempt of a payment may have reached the gateway.
	AttemptSentKey = attribute.Key("cardgateway.attempt.sent")

	// DurationMetric is a histogram of the duration of calls in seconds, including all attempts and pauses.
	DurationMetric = "cardgateway.client.call.duration"
	// UnknownOutcomesMetric counts the calls that ended with an unknown outcome: payments that have to be resolved, and
	// calls of Resolve that did not resolve one.
	UnknownOutcomesMetric = "cardgateway.client.unknown_outcomes"

	// JournalWorkingMetric is a gauge: 1 if this process works for the journal, 0 if another one does, or none.
	JournalWorkingMetric = "cardgateway.journal.working"
	// JournalEntriesMetric is a gauge of the payments and refunds that are not acknowledged, by state.
	JournalEntriesMetric = "cardgateway.journal.entries"
	// JournalStateKey is unknown, pending, presumed_absent, refused, conflict or settled: RecoverInfo.Open is unknown.
	JournalStateKey = attribute.Key("cardgateway.journal.state")
	// JournalUnansweredMetric is a gauge of the payments and refunds for which the last query failed.
	JournalUnansweredMetric = "cardgateway.journal.unanswered"
	// JournalUnreadableMetric is a gauge of the entries that cannot be read.
	JournalUnreadableMetric = "cardgateway.journal.unreadable"
	// JournalFailingMetric is a gauge of the payments and refunds whose last report failed or has not returned, or for which the last result
	// of a query could not be recorded.
	JournalFailingMetric = "cardgateway.journal.failing"
	// JournalOldestUnknownMetric is a gauge of the seconds since the oldest payment or refund with an unknown outcome was
	// submitted; zero if there is none.
	JournalOldestUnknownMetric = "cardgateway.journal.oldest_unknown.age"
	// JournalRecoverDurationMetric is a histogram of the duration of Recover in seconds.
	JournalRecoverDurationMetric = "cardgateway.journal.recover.duration"
	// JournalCompleteKey is RecoverInfo.Complete of one Recover.
	JournalCompleteKey = attribute.Key("cardgateway.journal.complete")

	// NotificationsMetric counts notifications by result.
	NotificationsMetric = "cardgateway.notifications"
	// NotificationDurationMetric is a histogram of the time from a notification to its response, in seconds.
	NotificationDurationMetric = "cardgateway.notification.duration"
	// NotificationKindKey is the kind as claimed: payment, refund, chargeback or unknown.
	NotificationKindKey = attribute.Key("cardgateway.notification.kind")
	// NotificationResultKey is handled, repeated (handled before), throttled (rejected because of a limit), failed (not confirmed or
	// not handled yet) or rejected (for good). The gateway repeats those that were throttled or failed, but only a few times.
	NotificationResultKey = attribute.Key("cardgateway.notification.result")
)

const scope = "github.com/cardgateway/cardgateway-go/otel"
