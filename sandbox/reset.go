package sandbox

// Reset removes all orders, refunds, tokens, faults, requests and notifications, including notifications and late commits
// that are still pending. The options remain, including those set by SetSearchBehavior. The uniqueIds of payments are not
// reused; those of seeded rows begin again.
func (g *Gateway) Reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	issued := g.ledger.issued
	g.ledger = newLedger()
	g.ledger.issued = issued
	g.faults, g.searches = nil, 0
	g.generation++
	g.notifier.Drop()
	g.history.reset()
}
