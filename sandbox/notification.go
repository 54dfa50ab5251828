package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/delivery"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
)

// notices sends the notifications of the gateway. Gateway.mu guards it.
type notices struct {
	opts *Options
	log  *console.Log
}

// payment queues the notification of a final payment.
func (n *notices) payment(o *order) {
	fields := map[string]any{
		"code": o.code, "message": codes.Message(o.code), "transactionType": o.kind(), "transactionId": o.transactionID,
		"transactionCurrency": o.currency, "transactionAmount": o.amount, "transactionMessage": o.text, "billDescription": billDescription,
	}
	if o.card.masked != "" {
		fields["transactionCardNumber"] = o.card.masked
	}
	if o.token != "" {
		fields[n.opts.Notifications.TokenMember] = o.token
	}
	n.send(o, fields)
}

// refund queues the notification of a refund that is final.
func (n *notices) refund(o *order, r *refund) {
	n.send(o, map[string]any{
		"code": r.code, "message": codes.Message(r.code), "transactionType": "Refund", "refundCurrency": r.currency,
		"refundAmount": r.amount, "refundUniqueId": r.refundUniqueID, "refundMessage": codes.Message(r.code),
		"merchantRefundId": r.merchantRefundID,
	})
}

// chargeback queues the notification of a chargeback, with the members of the published example, which ends after the
// uniqueId.
func (n *notices) chargeback(o *order) {
	n.send(o, map[string]any{"transactionType": "Chargeback", "chargebackCurrency": o.currency, "chargebackAmount": o.amount})
}

// send queues a notification with these members, and those that every notification has.
func (n *notices) send(o *order, fields map[string]any) {
	if n.opts.NoNotifications || o.notificationURL == "" {
		return
	}
	fields["isTest"], fields["uniqueId"], fields["timestamp"] = true, o.uniqueID, time.Now().UnixMilli()
	if o.appID != "" {
		fields["appId"] = json.Number(o.appID)
	}
	body, err := notificationBody(n.opts.SecretKey, fields)
	if err != nil {
		return // cannot happen: the fields are strings, numbers and booleans
	}
	message := delivery.Message{URL: o.notificationURL, Body: body, Delay: n.opts.Notifications.Delay}
	if o.token != "" {
		fields[n.opts.Notifications.TokenMember] = mask.Token(o.token)
	}
	shown := console.Notification{UniqueID: o.uniqueID, TransactionID: o.transactionID, URL: mask.URL(o.notificationURL)}
	shown.TransactionType, _ = fields["transactionType"].(string)
	shown.Code, _ = fields["code"].(int)
	text, _ := json.Marshal(fields) // notificationBody has marshalled them
	shown.Body = string(text)
	n.log.Notify(shown, o.token, message)
}

// Flush waits until every notification that is due or will be repeated has been accepted or given up, or until ctx ends.
func (g *Gateway) Flush(ctx context.Context) error {
	return g.notifier.Flush(ctx)
}

// NotificationRequest creates the POST request that the gateway would send to a notificationUrl, for unit tests of a
// merchant's notification handler. It is signed with secretKey unless that is empty. The fields are the members of the
// payload; write numbers wider than 64 bits, such as some appIds, as json.Number. A sign member in fields is replaced; if
// secretKey is empty it is kept, so that a test can forge a signature.
//
// The interface does not document the format of a notification; this is the published one.
func NotificationRequest(url, secretKey string, fields map[string]any) (*http.Request, error) {
	body, err := notificationBody(secretKey, fields)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("sandbox: notification: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

func notificationBody(secretKey string, fields map[string]any) ([]byte, error) {
	values := make(map[string]json.RawMessage, len(fields)+1)
	for name, value := range fields {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("sandbox: notification member %q: %w", name, err)
		}
		values[name] = text
	}
	if secretKey != "" {
		values["sign"] = jsonobject.AppendText(nil, sign(secretKey, values))
	}
	return json.Marshal(values)
}

// sign implements the published rule: the SHA-256 of the values of all members except sign, sorted by name and without
// separators, followed by the key. Empty values, objects and arrays are left out.
func sign(secretKey string, values map[string]json.RawMessage) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == "sign" {
			continue
		}
		value := values[name]
		switch value[0] {
		case '{', '[', 'n': // n as in null
		case '"':
			var s string
			_ = json.Unmarshal(value, &s) // written by json.Marshal
			h.Write([]byte(s))
		default:
			h.Write(value)
		}
	}
	h.Write([]byte(secretKey))
	return hex.EncodeToString(h.Sum(nil))
}
