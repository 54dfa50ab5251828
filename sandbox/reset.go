package sandbox

// Reset forgets every order, refund, token, fault, request and notification, also those that wait to be delivered, and
// late commits. The options stay, SetSearchBehavior's among them. No uniqueId that was given to a payment is given
// again; seeded rows begin anew.
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
