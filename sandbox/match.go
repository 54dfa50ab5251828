package sandbox

// matchingOrders returns the series with the rows that match the ids of a query.
func (l *ledger) matchingOrders(q query) []series {
	if !q.filtered() {
		all := []series{l.orders}
		for _, b := range l.generatedOrders {
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

// candidates returns the orders that have one of the ids of the query.
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
	for _, b := range l.generatedOrders {
		i, ok := b.indexOfMerchantID(q.transactionID, transactionPrefix)
		if !ok {
			i, ok = b.indexOfMerchantID(q.orderID, orderPrefix)
		}
		if ok {
			found = append(found, b.order(i))
		}
	}
	return found
}

// matchingRefunds returns the same for refunds.
func (l *ledger) matchingRefunds(q query) []series {
	if !q.filtered() {
		all := []series{l.refunds}
		for _, b := range l.generatedRefunds {
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
	for _, b := range l.generatedRefunds {
		if i, ok := b.find(q); ok && q.matchesRefund(b.refund(i)) {
			found = append(found, refundList{b.refund(i)})
		}
	}
	return found
}

func (q query) matches(o *order) bool {
	return (q.uniqueID == "" || q.uniqueID == o.uniqueID) &&
		(q.transactionID == "" || q.transactionID == o.transactionID) &&
		(q.orderID == "" || q.orderID == o.orderID)
}

// find returns the row that has one of the ids of the query.
func (b *generatedRefunds) find(q query) (int, bool) {
	switch {
	case q.refundUniqueID != "":
		return indexOfID(q.refundUniqueID, prefixGeneratedRefund, b.number, b.Len())
	case q.refundTransactionID != "":
		return indexOfName(q.refundTransactionID, refundPrefix, b.number, b.Len())
	case b.orders == nil:
		return indexOfID(q.uniqueID, prefixGeneratedOrder, seriesOfNoOrders, b.Len())
	}
	i, ok := b.orders.indexOf(q.uniqueID)
	if !ok {
		i, ok = indexOfName(q.transactionID, transactionPrefix, b.orders.number, b.orders.Len())
	}
	if !ok || i%b.every != 0 || i/b.every >= b.Len() {
		return 0, false
	}
	return i / b.every, true
}

func (q query) matchesRefund(r *refund) bool {
	return (q.uniqueID == "" || q.uniqueID == r.uniqueID) &&
		(q.transactionID == "" || q.transactionID == r.transactionID) &&
		(q.refundTransactionID == "" || q.refundTransactionID == r.merchantRefundID) &&
		(q.refundUniqueID == "" || q.refundUniqueID == r.refundUniqueID)
}
