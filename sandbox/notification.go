package sandbox

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/delivery"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
)

// notifyOrder queues the notification of a final transaction. The caller holds g.mu.
func (g *Gateway) notifyOrder(o *order) {
	fields := g.notificationFields(o)
	fields["code"] = o.code
	fields["message"] = codes.Message(o.code)
	fields["transactionType"] = o.kind()
	fields["transactionId"] = o.transactionID
	fields["transactionCurrency"] = o.currency
	fields["transactionAmount"] = o.amount
	fields["transactionMessage"] = o.text
	fields["billDescription"] = g.opts.BillDescription
	if o.card.masked != "" {
		fields["transactionCardNumber"] = o.card.masked
	}
	if o.token != "" {
		fields[g.opts.NotificationTokenMember] = o.token
	}
	g.notify(o, fields)
}

func (g *Gateway) notifyRefund(o *order, r *refund) {
	fields := g.notificationFields(o)
	fields["code"] = r.code
	fields["message"] = codes.Message(r.code)
	fields["transactionType"] = "Refund"
	fields["refundCurrency"] = r.currency
	fields["refundAmount"] = r.amount
	fields["refundUniqueId"] = r.refundUniqueID
	fields["refundMessage"] = codes.Message(r.code)
	fields["merchantRefundId"] = r.merchantRefundID
	g.notify(o, fields)
}

// notifyChargeback queues the notification of a chargeback, with the members of the published example, which ends after the
// uniqueId.
func (g *Gateway) notifyChargeback(o *order) {
	fields := g.notificationFields(o)
	fields["transactionType"] = "Chargeback"
	fields["chargebackCurrency"] = o.currency
	fields["chargebackAmount"] = o.amount
	g.notify(o, fields)
}

// notificationFields returns the members that every notification has.
func (g *Gateway) notificationFields(o *order) map[string]any {
	fields := map[string]any{"isTest": true, "uniqueId": o.uniqueID, "timestamp": time.Now().UnixMilli()}
	if o.appID != "" {
		fields["appId"] = json.Number(o.appID)
	}
	return fields
}

func (g *Gateway) notify(o *order, fields map[string]any) {
	if g.opts.NoNotifications || o.notificationURL == "" {
		return
	}
	body, err := notificationBody(g.opts.SecretKey, fields)
	if err != nil {
		return // cannot happen: the fields are strings, numbers and booleans
	}
	record := &notificationRecord{
		at: time.Now(), uniqueID: o.uniqueID, transactionID: o.transactionID, url: mask.URL(o.notificationURL), token: o.token,
		message: delivery.Message{URL: o.notificationURL, Body: body, Delay: g.opts.NotificationDelay},
	}
	record.kind, _ = fields["transactionType"].(string)
	record.code, _ = fields["code"].(int)
	if o.token != "" {
		fields[g.opts.NotificationTokenMember] = mask.Token(o.token)
	}
	if shown, err := json.Marshal(fields); err == nil {
		record.body = string(shown)
	}
	g.notifier.Add(g.history.addNotification(record))
}

// Flush waits until every notification that is due or will be repeated has been accepted or given up, or until ctx ends.
func (g *Gateway) Flush(ctx context.Context) error {
	return g.notifier.Flush(ctx)
}
