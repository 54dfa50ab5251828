package notify

import "net/http"

// What the tests of package notify_test compare with.
const (
	MaxActive      = maxActive
	ConfirmTimeout = confirmTimeout
)

// Active counts the notifications that a handler is asking about or handling.
func Active(h http.Handler) int {
	a := h.(*handler).admission
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.active)
}
