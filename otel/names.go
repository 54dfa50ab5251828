package otel

import "go.opentelemetry.io/otel/attribute"

// Names of what only this package records; the others are those of OpenTelemetry's conventions for HTTP clients.
const (
	// OperationKey is the client's method, such as TokenPayment.
	OperationKey = attribute.Key("cardgateway.operation")
	// OutcomeKey is one of the constants of type cardgateway.Outcome, or cardgateway.OutcomeInvalid.
	OutcomeKey = attribute.Key("cardgateway.outcome")

	// TransactionIDKey is the merchant's transaction id: of a payment, or that is searched for. Only spans have it.
	TransactionIDKey = attribute.Key("cardgateway.transaction_id")
	// CodeKey is the gateway's code, if a response with one came. Only spans have it.
	CodeKey = attribute.Key("cardgateway.code")
	// AttemptsKey is how often a call was sent, or tried to be. Only spans of kind client have it.
	AttemptsKey = attribute.Key("cardgateway.attempts")

	// AttemptEvent is the event of a span that an attempt is.
	AttemptEvent = "cardgateway.attempt"
	// AttemptNumberKey is counted from 1.
	AttemptNumberKey = attribute.Key("cardgateway.attempt.number")
	// AttemptDurationKey is in seconds.
	AttemptDurationKey = attribute.Key("cardgateway.attempt.duration")
	// AttemptSentKey says of a payment that the attempt may have reached the gateway.
	AttemptSentKey = attribute.Key("cardgateway.attempt.sent")

	// DurationMetric is a histogram of how long calls take, in seconds, all attempts and pauses included.
	DurationMetric = "cardgateway.client.call.duration"
	// UnknownOutcomesMetric counts the calls that ended with an unknown outcome: payments that have to be resolved, and
	// calls of Resolve that did not settle one.
	UnknownOutcomesMetric = "cardgateway.client.unknown_outcomes"
)

const scope = "github.com/cardgateway/cardgateway-go/otel"
