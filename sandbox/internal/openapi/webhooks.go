package openapi

const notificationSource = "published: Asynchronous notification"

// webhooks describes the notification. "Payload, signature, retry behaviour and expected acknowledgement of the notification:
// not shown"; these are published.
func webhooks() object {
	return object{"notification", object{"post", object{
		"operationId", "Notification", "summary", "Asynchronous notification", "x-source", "interface: Events",
		"description", "Sent to the notificationUrl of a payment, if it has one, after the transaction completes. Published: also when a " +
			"refund completes, and when a chargeback occurs. Anybody who knows the URL can send one: query the transaction before you " +
			"rely on it.",
		"security", list{},
		"requestBody", object{"required", true, "x-source", notificationSource, "content", jsonContent(object{"anyOf", list{
			ref("TransactionNotification"), ref("RefundNotification"), ref("ChargebackNotification"),
		}})},
		"responses", object{
			"200", object{"description", "accepted; nothing needs to be in the body", "x-source", notificationSource},
			"default", object{
				"description", "not accepted: sent again 5 s, 5 min, 15 min and 30 min after the first failure", "x-source", notificationSource,
			},
		},
	}}}
}

// setNotifications sets the schemas of the notifications.
func (g *generator) setNotifications(schemas *object) {
	for _, n := range []struct {
		name, component string
		required        list // what identifies it, of the published example
	}{
		{"transaction", "TransactionNotification", list{"code", "transactionType", "uniqueId", "transactionId"}},
		{"refund", "RefundNotification", list{"code", "transactionType", "uniqueId", "merchantRefundId"}},
		{"chargeback", "ChargebackNotification", list{"transactionType"}},
	} {
		schema := resultObject(g.Notifications[n.name], notificationSource)
		schema.set("x-published", true)
		schema.set("required", n.required)
		schema.set("x-required", "own: it is not published which members are required")
		schemas.set(n.component, schema)
	}
}
