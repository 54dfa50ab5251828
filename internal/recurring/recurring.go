// Package recurring tells the later charges of a subscription from a payment that was made twice.
package recurring

import "time"

// hoursPerDay is how many hours the next charge must be later for each day of the cycle: a charge may come early, or a little
// late and the next one on time. A payment that is made twice is made sooner, within the delay of a request.
const hoursPerDay = 20

// days has the shortest length of each cycle that the interface or gateways publish.
var days = map[string]time.Duration{"DAY": 1, "WEEK": 7, "MONTH": 28, "THREE_MONTHS": 89, "SIX_MONTHS": 181, "YEAR": 365}

// Gap returns how far apart two charges of one subscription are at least: 20 hours for each day of the cycle, 20 hours for one
// that is not published, and zero, which means that there are no later charges, for none.
func Gap(cycle string) time.Duration {
	if cycle == "" {
		return 0
	}
	return max(days[cycle], 1) * hoursPerDay * time.Hour
}
