package faults

import "github.com/cardgateway/cardgateway-go/sandbox"

// Behavior is one way in which a gateway may treat a repeated request. The interface leaves it open, so every guarantee has
// to hold with all of them.
type Behavior struct {
	Name             string
	Duplicates       sandbox.Duplicates
	RefundDuplicates sandbox.RefundDuplicates
	LeakShare        float64
}

// Behaviors returns the four behaviors for payments.
func Behaviors() []Behavior {
	return []Behavior{
		{Name: "no duplicate check", Duplicates: sandbox.DuplicatesExecuted},
		{Name: "101 for a seen id", Duplicates: sandbox.DuplicatesDeclined},
		{Name: "501 for a seen id, leaky filter", Duplicates: sandbox.DuplicatesRefused, LeakShare: 0.3},
		{Name: "one success per order, racy", Duplicates: sandbox.DuplicatesPerOrder},
	}
}

// RefundBehaviors returns the four behaviors for a repeated refundTransactionId. No gateway publishes which one it has.
func RefundBehaviors() []Behavior {
	return []Behavior{
		{Name: "no duplicate check", RefundDuplicates: sandbox.RefundDuplicatesExecuted},
		{Name: "501 for a seen id", RefundDuplicates: sandbox.RefundDuplicatesRefused},
		{Name: "no duplicate check, leaky filter", RefundDuplicates: sandbox.RefundDuplicatesExecuted, LeakShare: 0.3},
		{Name: "the first answer once more", RefundDuplicates: sandbox.RefundDuplicatesRepeated},
	}
}

// Protos returns a protocol for each of the four behaviors.
func Protos() []string { return []string{"", "tls", "h2", ""} }
