package faults

import "github.com/cardgateway/cardgateway-go/sandbox"

// Behavior is one way in which a gateway may treat a repeated request. The interface leaves it open, so every guarantee has
// to hold with all of them.
type Behavior struct {
	Name       string
	Duplicates sandbox.Duplicates
	LeakShare  float64
}

// Behaviors returns the four behaviors.
func Behaviors() []Behavior {
	return []Behavior{
		{"no duplicate check", sandbox.DuplicatesExecuted, 0},
		{"101 for a seen id", sandbox.DuplicatesDeclined, 0},
		{"501 for a seen id, leaky filter", sandbox.DuplicatesRefused, 0.3},
		{"one success per order, racy", sandbox.DuplicatesPerOrder, 0},
	}
}
