package openapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// state is a code of a transaction or of a refund, with the name of its component.
type state struct {
	code         int
	result, name string
}

var states = []state{
	{100, "transaction", "ApprovedTransaction"}, {101, "transaction", "DeclinedTransaction"},
	{102, "transaction", "ProcessingTransaction"}, {103, "transaction", "ClosedTransaction"},
	{301, "transaction", "RedirectTransaction"},
	{110, "refund", "AcceptedRefund"}, {111, "refund", "MadeRefund"}, {112, "refund", "RefusedRefund"},
}

// responses returns the responses of an operation. The interface: "HTTP status codes: not shown". A failure in the body may
// be sent with the status of its code, or with 200.
func (g *generator) responses(op *operation) object {
	return object{
		"200", object{"description", "the result, or a refusal instead", "content", jsonContent(g.result(op))},
		"4XX", refusal("own: HTTP status codes are not shown"),
		"5XX", refusal("own: HTTP status codes are not shown"),
	}
}

func refusal(source string) object {
	return object{
		"description", "the request was not carried out", "x-source", source,
		"content", jsonContent(object{"anyOf", list{ref("Refusal"), ref("Duplicate"), ref("DuplicateRefund")}}),
	}
}

// result returns the schema of the results of an operation, each with its code, or a refusal.
func (g *generator) result(op *operation) object {
	var any list
	switch op.Name {
	case "SearchOrders":
		any = list{ref("OrderPage"), ref("FailedQuery")}
	case "SearchRefunds":
		any = list{ref("RefundPage"), ref("FailedQuery")}
	case "UploadTrackingNumbers":
		any = list{ref("Upload")}
	default:
		for _, r := range op.Responses {
			any = append(any, g.resultOf(op, r))
		}
	}
	return object{"anyOf", append(any, ref("Refusal"))}
}

func (g *generator) resultOf(op *operation, r response) object {
	switch r.Code {
	case 122:
		return ref("FailedQuery")
	case 501:
		if op.Name == "CreateRefund" {
			return ref("DuplicateRefund")
		}
		return ref("Duplicate")
	}
	if op.Name == "CreateRefund" {
		required := list{"code"}
		if r.Code != 112 {
			required = append(required, "refundTransactionId")
		}
		return object{
			"description", g.meaning(r.Code), "x-source", r.source(op), "allOf", list{ref("RefundResponse")},
			"properties", object{"code", object{"const", r.Code}}, "required", required,
		}
	}
	component := ref(states[slices.IndexFunc(states, func(s state) bool { return s.code == r.Code })].name)
	if op.Name == "GetTransaction" { // the requested row
		return object{"allOf", list{component}, "required", list{"uniqueId"}, "x-source", r.source(op)}
	}
	return object{"allOf", list{component}, "x-source", r.source(op)}
}

func (r response) source(op *operation) string {
	switch r.Source {
	case published:
		return "published: " + op.Heading
	case own:
		return "own: not shown for this operation"
	}
	return "interface: " + op.Heading
}

func (g *generator) schemas() (schemas object) {
	headings := map[string]string{
		"productInfo": "ProductInfo (element of productInfos)", "address": "BillingAddress and ShippingAddress (same shape)",
		"card": "Card (direct subscription only)", "browser": "Browser", "subscriptionExtension": "Extension for subscriptions",
		"checkoutExtension": "Extension for subscriptions",
	}
	for _, c := range []struct{ object, parent string }{
		{"productInfo", "productInfos"}, {"address", "billingAddress"}, {"address", "shippingAddress"}, {"card", "card"},
		{"browser", "browser"}, {"subscriptionExtension", "extension"}, {"checkoutExtension", ""},
	} {
		schemas.set(componentName(c.object, c.parent), g.object(c.object, c.parent, g.Objects[c.object], "interface: "+headings[c.object]))
	}
	schemas.set("ResultAddress", g.resultAddress())
	schemas.set("Transaction", resultObject(g.Results["transaction"], "interface: Transaction result"))
	refund := g.Results["refund"]
	publishedName := member{Name: "refundTransactionId", Type: "String", Source: published}
	schemas.set("Refund", resultObject(append(slices.Clone(refund), publishedName), "interface: Refund record"))
	refund = slices.DeleteFunc(slices.Clone(refund), func(m member) bool { return m.Name == "merchantRefundId" })
	schemas.set("RefundResponse", resultObject(append(refund, publishedName), "published: Refund request"))
	var transactions, refunds list
	for _, s := range states {
		required := list{"code"}
		base := "Transaction"
		switch {
		case s.result == "refund":
			base = "Refund"
		case s.code == 301:
			required = append(required, "uniqueId", "transactionId", "redirectUrl")
		case s.code == 100, s.code == 102:
			required = append(required, "uniqueId", "transactionId")
		}
		schemas.set(s.name, object{
			"description", g.meaning(s.code), "x-source", g.sourceOf(s.code), "allOf", list{ref(base)},
			"properties", object{"code", object{"const", s.code}}, "required", required,
		})
		if base == "Refund" {
			refunds = append(refunds, ref(s.name))
		} else {
			transactions = append(transactions, ref(s.name))
		}
	}
	schemas.set("OrderPage", g.page(transactions))
	schemas.set("RefundPage", g.page(refunds))
	g.setNotifications(&schemas)
	schemas.set("Upload", object{
		"type", "object", "x-source", "published: Batch tracking-number upload",
		"properties", object{"code", object{"enum", list{141, 142}}, "message", object{"type", "string"}, "timestamp", instant()},
		"required", list{"code"},
	})
	var codes list
	for _, c := range g.Codes {
		if c.Source == published && c.Code >= 201 && c.Code != 501 {
			codes = append(codes, c.Code)
		}
	}
	schemas.set("Refusal", failure(object{"enum", codes}, nil))
	schemas.set("FailedQuery", failure(object{"const", 122}, nil))
	schemas.set("Duplicate", failure(object{"const", 501}, object{
		"transactionId", object{"type", "string", "x-source", "own: the id that was seen before"},
	}))
	schemas.set("DuplicateRefund", failure(object{"const", 501}, object{
		"refundTransactionId", object{"type", "string", "x-source", "own: the id that was seen before"},
	}))
	return schemas
}

func (g *generator) meaning(code int) string {
	for _, c := range g.Codes {
		if c.Code == code {
			return fmt.Sprintf("code %d: %s", code, c.Meaning)
		}
	}
	return ""
}

func (g *generator) sourceOf(code int) string {
	for _, c := range g.Codes {
		if c.Code == code && c.Source != published {
			return "interface: Errors"
		}
	}
	return "published: response codes"
}

// resultAddress is the billing address in a result: "The state field is absent in response copies".
func (g *generator) resultAddress() object {
	var properties object
	for _, m := range g.Objects["address"] {
		if m.Name != "state" {
			properties.set(m.Name, object{"type", "string"})
		}
	}
	return object{"type", "object", "x-source", "interface: BillingAddress and ShippingAddress (same shape)", "properties", properties}
}

func resultObject(members []member, source string) object {
	var properties object
	for _, m := range members {
		properties.set(m.Name, resultMember(&m))
	}
	return object{"type", "object", "x-source", source, "properties", properties}
}

// resultMember is the schema of a member of a response.
func resultMember(m *member) object {
	var schema object
	switch m.Name {
	case "isTest":
		schema = object{"type", "boolean"}
	case "is3d":
		schema = object{"anyOf", list{
			object{"enum", list{"true", "false"}}, object{"type", "boolean", "x-published", true},
		}}
	case "appId":
		schema = object{"type", "integer", "minimum", 0, "exclusiveMaximum", powerOfTen(32)}
	case "code", "pageSize", "totalCount", "totalPage", "currPage":
		schema = object{"type", "integer", "minimum", 0}
	case "timestamp":
		schema = instant()
	case "uniqueId":
		schema = object{"type", "string", "pattern", "^[0-9]{1,128}$"}
	case "transactionId", "merchantRefundId", "refundUniqueId", "refundTransactionId":
		schema = object{"type", "string", "minLength", 1, "maxLength", 255, "x-limit", "published: 255 for transactionId"}
	case "transactionAmount", "refundAmount", "chargebackAmount":
		schema = object{"type", "string", "pattern", `^-?[0-9]{1,12}(\.[0-9]{1,3})?$`}
	case "transactionCurrency", "refundCurrency", "chargebackCurrency":
		schema = object{"type", "string", "pattern", "^[A-Z]{3}$"}
	case "transactionAt", "refundRequestAt", "refundAt":
		schema = object{"type", "string", "pattern", "^" + datePattern + " " + timePattern + "$"}
	case "transactionCardNumber":
		schema = object{"type", "string", "pattern", `^[0-9]{6}\*+[0-9]{4}$`}
	case "redirectUrl":
		schema = object{"type", "string", "pattern", urlPattern}
	case "billingAddress":
		return ref("ResultAddress")
	case "sign":
		schema = object{
			"type", "string", "pattern", "^[0-9A-Fa-f]{64}$",
			"description", "SHA-256 of the non-empty values of the other members, in the order of their names, and of the secret key",
		}
	case "token":
		schema = object{"type", "string", "minLength", 1}
	default:
		schema = object{"type", "string"}
	}
	if m.Value != "" {
		schema = object{"const", m.Value}
	}
	if m.Source == published {
		schema.set("x-published", true)
	} else if m.Source == own {
		return append(schema, "x-source", "own: "+m.Note)
	} else if m.PublicFacts.Limit > 0 && m.Type == "String" && !strings.HasSuffix(m.Name, "Id") {
		schema.set("x-published", object{"maxLength", m.PublicFacts.Limit})
	}
	if m.Note != "" {
		schema.set("description", m.Note)
	}
	return schema
}

// instant returns the schema of a time in milliseconds since 1970, before the year 10000.
func instant() object {
	return object{"type", "integer", "minimum", 0, "maximum", json.Number("253402300799999")}
}

func (g *generator) page(rows list) object {
	var properties object
	var required list
	for _, m := range g.Results["page"] {
		switch required = append(required, m.Name); m.Name {
		case "code":
			properties.set("code", object{"const", 121})
		case "data":
			properties.set("data", object{"type", "array", "items", object{"anyOf", rows}})
		default:
			properties.set(m.Name, resultMember(&m))
		}
	}
	return object{"type", "object", "x-source", "interface: Page envelope (batch queries)", "properties", properties, "required", required}
}

// failure returns the body of a response to a request that was not carried out. "Responses for validation failures, unknown
// identifiers, and failures of the token operations: not shown"; the codes are published.
func failure(code, more object) object {
	properties := append(object{
		"code", code, "message", object{"type", "string"}, "timestamp", instant(),
		"transactionMessage", object{"type", "string", "x-source", "own: the reason in words"},
	}, more...)
	return object{
		"type", "object", "x-source", "published: response codes", "x-published", true, "properties", properties,
		"required", list{"code"},
	}
}
