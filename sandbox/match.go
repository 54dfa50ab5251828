package sandbox

// matchingOrders returns the series in which a query finds its rows.
func (g *Gateway) matchingOrders(q query) []series {
	l := &g.ledger
	if !q.filtered() {
		all := []series{l.orders}
		for _, b := range l.books {
			all = append(all, b)
		}
		return all
	}
	var found []series
	for _, o := range l.candidates(q) {
		if q.matches(o) {
			found = append(found, orderList{o})
		}
	}
	return found
}

// candidates returns the orders that have one of the ids that the query asks for.
func (l *ledger) candidates(q query) []*order {
	var found []*order
	switch {
	case q.uniqueID != "":
		if o := l.find(q.uniqueID); o != nil {
			found = append(found, o)
		}
		return found
	case q.transactionID != "":
		found = append(found, l.byTransaction[q.transactionID]...)
	default:
		found = append(found, l.byOrder[q.orderID]...)
	}
	for _, b := range l.books {
		i, ok := indexOfName(q.transactionID, bookTransaction, b.number, b.Len())
		if !ok {
			i, ok = indexOfName(q.orderID, bookOrder, b.number, b.Len())
		}
		if ok {
			found = append(found, b.order(i))
		}
	}
	return found
}

func (q query) matches(o *order) bool {
	return (q.uniqueID == "" || q.uniqueID == o.uniqueID) &&
		(q.transactionID == "" || q.transactionID == o.transactionID) &&
		(q.orderID == "" || q.orderID == o.orderID)
}

// matchingRefunds is matchingOrders for refunds.
func (g *Gateway) matchingRefunds(q query) []series {
	l := &g.ledger
	if !q.filtered() {
		all := []series{l.refunds}
		for _, b := range l.refundBooks {
			all = append(all, b)
		}
		return all
	}
	var found []series
	for _, r := range l.refunds {
		if q.matchesRefund(r) {
			found = append(found, refundList{r})
		}
	}
	for _, b := range l.refundBooks {
		if i, ok := b.find(q); ok && q.matchesRefund(b.refund(i)) {
			found = append(found, refundList{b.refund(i)})
		}
	}
	return found
}

// find returns the row that has one of the ids that the query asks for.
func (b *bookRefunds) find(q query) (int, bool) {
	switch {
	case q.refundUniqueID != "":
		return indexOfID(q.refundUniqueID, prefixBookRefund, b.number, b.Len())
	case q.refundTransactionID != "":
		return indexOfName(q.refundTransactionID, bookRefund, b.number, b.Len())
	case b.orders == nil:
		return indexOfID(q.uniqueID, prefixBookOrder, noBook, b.Len())
	}
	i, ok := b.orders.indexOf(q.uniqueID)
	if !ok {
		i, ok = indexOfName(q.transactionID, bookTransaction, b.orders.number, b.orders.Len())
	}
	if !ok || i%refundEvery != 0 || i/refundEvery >= b.Len() {
		return 0, false
	}
	return i / refundEvery, true
}

func (q query) matchesRefund(r *refund) bool {
	return (q.uniqueID == "" || q.uniqueID == r.uniqueID) &&
		(q.transactionID == "" || q.transactionID == r.transactionID) &&
		(q.refundTransactionID == "" || q.refundTransactionID == r.merchantRefundID) &&
		(q.refundUniqueID == "" || q.refundUniqueID == r.refundUniqueID)
}
