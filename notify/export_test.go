package notify

import "net/http"

// What the tests of package notify_test compare with.
const (
	MaxActive      = maxActive
	MaxWaiting     = maxWaiting
	MaxPerSubject  = maxPerSubject
	MaxWait        = maxWait
	ConfirmTimeout = confirmTimeout
)

func (n *Notification) ClaimedKey() string { return n.claimedKey() }

// Active counts the notifications that a handler is confirming or handling; Present also counts those that wait.
func Active(h http.Handler) int {
	return len(h.(*handler).admission.slots)
}

func Present(h http.Handler) int {
	a := h.(*handler).admission
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.present + len(a.subjects)
}
