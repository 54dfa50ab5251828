package loopback

// Contents of the server's responses, for clients that check them.
const (
	AppID         = "1625420154047475713"
	TransactionID = "token-pay-2026-000001"
	OrderID       = "order-2026-000001"
	Amount        = "128.50"
	Currency      = "USD"
)

// PaymentAnswer is the response to both payments.
const PaymentAnswer = `{"code":100,"message":"successful transaction","isTest":true,"appId":` + AppID +
	`,"uniqueId":"2011621142686601218","transactionId":"` + TransactionID +
	`","billDescription":"shop.example","timestamp":1768442829499,"transactionAmount":"` + Amount +
	`","transactionCurrency":"` + Currency + `","transactionAt":"2026-01-15 10:07:09",` +
	`"transactionCardNumber":"430000******0000","transactionMessage":"Approved","transactionMethod":"CreditCard",` +
	`"transactionType":"Tokenization","is3d":"false","billingAddress":` + address + `}`

const address = `{"firstName":"Gross","lastName":"Müller","country":"US","email":"cardholder@shop.example",` +
	`"city":"Springfield","address":"742 Evergreen Terrace & Annex","phone":"+1 217 555 0100","zipCode":"62704"}`

// intentAnswer has the members of a newly created payment intent, as documented for the API version of the library.
const intentAnswer = intentHead + "pi_3MtwBwLkdIwHu7ix28a3tqPa" + intentTail

const (
	intentHead = `{"id":"`
	intentTail = `","object":"payment_intent","amount":12850,"amount_capturable":0,"amount_details":{"tip":{}},` +
		`"amount_received":0,"application":null,"application_fee_amount":null,` +
		`"automatic_payment_methods":{"enabled":true},"canceled_at":null,"cancellation_reason":null,` +
		`"capture_method":"automatic","client_secret":"pi_3MtwBwLkdIwHu7ix28a3tqPa_secret_YrKJUKribcBjcG8HVhfZluoGH",` +
		`"confirmation_method":"automatic","created":1680800504,"currency":"usd","customer":null,` +
		`"description":"Candle box","last_payment_error":null,"latest_charge":null,"livemode":false,` +
		`"metadata":{"order_id":"` + OrderID + `"},"next_action":null,"on_behalf_of":null,"payment_method":null,` +
		`"payment_method_options":{"card":{"installments":null,"mandate_options":null,"network":null,` +
		`"request_three_d_secure":"automatic"},"link":{"persistent_token":null}},` +
		`"payment_method_types":["card","link"],"processing":null,"receipt_email":null,"review":null,` +
		`"setup_future_usage":null,"shipping":null,"source":null,"statement_descriptor":null,` +
		`"statement_descriptor_suffix":null,"status":"requires_payment_method","transfer_data":null,` +
		`"transfer_group":null}`
)
