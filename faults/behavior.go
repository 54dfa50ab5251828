package faults

import "github.com/cardgateway/cardgateway-go/sandbox"

// Behavior is one way in which a gateway may treat what it has seen before. The interface leaves it open, so every
// promise has to hold under all of them.
type Behavior struct {
	Name       string
	Duplicates sandbox.Duplicates
	LeakShare  float64
}

// Behaviors returns the four.
func Behaviors() []Behavior {
	return []Behavior{
		{"no duplicate check", sandbox.DuplicatesExecuted, 0},
		{"101 for a seen id", sandbox.DuplicatesDeclined, 0},
		{"501 for a seen id, leaky filter", sandbox.DuplicatesRefused, 0.3},
		{"one success per order, racy", sandbox.DuplicatesPerOrder, 0},
	}
}
