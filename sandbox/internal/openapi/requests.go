package openapi

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

const commonFields = "interface: Transaction request (common fields)"

// body is the schema of the body of an operation.
func (g *generator) body(op *operation) object {
	source := commonFields
	if op.isPublished() {
		source = "published: " + op.Heading
	}
	schema := g.object(op.Name, "", op.Members, source)
	for _, m := range op.Members {
		if m.RequiredWhen != "" {
			schema.set("if", object{"properties", object{m.RequiredWhen, object{"const", true}}, "required", list{m.RequiredWhen}})
			schema.set("then", object{"properties", object{m.Name, object{}}, "required", list{m.Name}})
		}
	}
	if op.Body == "Array" {
		return object{"type", "array", "minItems", op.MinItems, "maxItems", op.MaxItems, "items", schema}
	}
	return schema
}

// object returns the schema of an object with these members: the body of an operation, or the nested object of that name in
// the member parent.
func (g *generator) object(name, parent string, members []member, source string) object {
	var properties, filled object
	var required, publishedRequired list
	for _, m := range members {
		if m.In != "" {
			continue
		}
		isRequired := m.isRequired(parent)
		properties.set(m.Name, g.property(&m, isRequired, source))
		if isRequired {
			required = append(required, m.Name)
		}
		if parent == "shippingAddress" { // "if shippingAddress is sent, all its fields must be filled"
			publishedRequired = append(publishedRequired, m.Name)
			filled.set(m.Name, object{"minLength", 1})
		}
	}
	schema := object{"type", "object", "x-source", source, "properties", properties}
	if required != nil {
		schema.set("required", required)
	}
	var more object
	for _, m := range g.PublishedMembers[name] {
		filled.set(m.Name, g.property(&m, false, "published"))
	}
	if filled != nil {
		more.set("properties", filled)
	}
	if publishedRequired != nil {
		more.set("required", publishedRequired)
	}
	if more != nil {
		schema.set("x-published", more)
	}
	return schema
}

// isRequired reports whether the member is required in the parent of that name. For a card and a subscription the interface
// does not say it, but published documents do.
func (m *member) isRequired(parent string) bool {
	if m.Required == "" {
		return m.PublicFacts.Required == "R" && (parent == "card" || parent == "extension")
	}
	return m.Required == "R" && (m.RequiredIn == nil || slices.Contains(m.RequiredIn, parent))
}

// property is the schema of one member.
func (g *generator) property(m *member, required bool, source string) object {
	var schema object
	switch m.Type {
	case "Object", "Array":
		schema = g.nested(m)
	case "Boolean":
		schema = object{"type", "boolean"}
	case "Number":
		schema = number(m)
	default:
		schema = text(m, required)
	}
	switch {
	case m.Required == "example":
		source = strings.Replace(source, commonFields, "interface: only in an example", 1)
	case m.Required == "" && required:
		schema.set("x-required", "published: the interface does not say whether it is required")
	}
	if source != commonFields && m.Object == "" {
		schema.set("x-source", source)
	}
	if note := cmp.Or(m.Note, m.PublicFacts.Note); note != "" && m.Object == "" {
		schema.set("description", note)
	}
	if more := g.publishedKeywords(m); more != nil {
		schema.set("x-published", more)
	}
	return schema
}

// publishedKeywords returns the keywords that are published and not in the interface. For a member that is only published,
// they are in its schema.
func (g *generator) publishedKeywords(m *member) (more object) {
	limit := m.PublicFacts.Limit
	switch {
	case m.Type == "String" && limit > 0 && m.Limit == 0:
		more.set("maxLength", limit)
		if m.Name == "subscriptionCycle" {
			var cycles list
			for _, c := range g.Cycles {
				cycles = append(cycles, c.Value)
			}
			more.set("enum", cycles)
		}
	case m.Name == "quantity":
		more.set("exclusiveMaximum", powerOfTen(limit))
	case m.Type == "Number" && limit > 0 && m.Limit == 0:
		more.set("anyOf", integerOf(limit, 0))
	case m.Type == "Number" && m.PublicFacts.Digits > 0:
		more.set("anyOf", decimalOf(m.PublicFacts.Digits, m.PublicFacts.Decimals, false))
	}
	return more
}

// nested returns a reference to a component, or an array of references. The schema of an address depends on its parent.
func (g *generator) nested(m *member) object {
	name := componentName(m.Object, m.Name)
	if m.Type == "Array" {
		return object{"type", "array", "minItems", 1, "items", ref(name)}
	}
	return ref(name)
}

func componentName(object, parent string) string {
	if object == "address" {
		object = parent
	}
	return strings.ToUpper(object[:1]) + object[1:]
}

// Patterns of strings. The interface describes them in words.
const (
	urlPattern  = `^[Hh][Tt][Tt][Pp][Ss]?://` + userPattern + `(` + namePattern + `|\[` + ipv6Pattern + `\])(:[0-9]*)?` + restPattern + `$`
	userPattern = `(([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*@)?`
	namePattern = `([A-Za-z0-9._~!$&'()*+,;="<>-]|[^\x00-\x7F]|%[89A-Fa-f][0-9A-Fa-f])+`
	restPattern = `(/([^\x00-\x20\x7F%?#]|%[0-9A-Fa-f]{2})*)?(\?[^\x00-\x20\x7F#]*)?(#([^\x00-\x20\x7F%]|%[0-9A-Fa-f]{2})*)?`

	hex         = `[0-9A-Fa-f]{1,4}`
	ipv6Pattern = `((` + hex + `:){7}` + hex + `|(` + hex + `:){1,7}:|(` + hex + `:){1,6}:` + hex + `|(` + hex + `:){1,5}(:` + hex + `){1,2}` +
		`|(` + hex + `:){1,4}(:` + hex + `){1,3}|(` + hex + `:){1,3}(:` + hex + `){1,4}|(` + hex + `:){1,2}(:` + hex + `){1,5}` +
		`|` + hex + `:(:` + hex + `){1,6}|:(:` + hex + `){1,7}|::)`

	numericPattern = `^-?[0-9]+(\.[0-9]+)?$`
)

func text(m *member, required bool) object {
	schema := object{"type", "string"}
	switch m.Name {
	case "currency":
		if m.Limit > 0 {
			return append(schema, "pattern", "^[A-Z]{3}$")
		}
	case "country":
		if required {
			return append(schema, "pattern", "^[A-Z]{2}$")
		}
		return append(schema, "pattern", "^([A-Z]{2})?$")
	case "callbackUrl", "notificationUrl":
		return append(schema, "maxLength", m.Limit, "pattern", urlPattern)
	case "expiredYear":
		return append(schema, "pattern", "^[0-9]{2}$")
	case "expiredMonth":
		return append(schema, "pattern", "^(0[1-9]|1[0-2])$")
	case "cardNumber":
		return append(schema, "pattern", "^[0-9]{12,19}$", "x-form", "own: 12 to 19 digits; the interface says string")
	case "cvv":
		return append(schema, "pattern", "^[0-9]{3,4}$", "x-form", "own: three or four digits; the interface says string")
	case "cardholder":
		return append(schema, "pattern", `\S`, "x-form", "own: not only white space")
	case "uniqueId":
		if m.Required == "R" { // only the published operations; their example has a number
			return object{"anyOf", list{
				object{"type", "string", "minLength", 1, "maxLength", m.Limit}, object{"type", "integer", "minimum", 0},
			}}
		}
	}
	if required {
		schema.set("minLength", 1)
	}
	if m.Limit > 0 {
		schema.set("maxLength", m.Limit)
	}
	if m.Format == "URL" {
		schema.set("format", "uri-reference")
	}
	return schema
}

// number returns the schema of a number or a string of its digits: the examples send the amount as a string, and the
// published ones the appId.
func number(m *member) object {
	switch m.Name {
	case "amount":
		return object{"anyOf", decimalOf(m.Digits, m.Decimals, true), "x-positive", "own: amounts are above zero"}
	case "price":
		return object{"anyOf", list{object{"type", "number"}, object{"type", "string", "pattern", numericPattern}}}
	case "quantity":
		return object{"type", "integer", "minimum", 0}
	case "subscriptionPeriod":
		return object{"anyOf", integerOf(0, 1)}
	}
	return object{"anyOf", integerOf(m.Limit, 0)}
}

// integerOf returns the schemas of an integer with a limited number of digits, as a number and as a string. Zero means no
// limit.
func integerOf(digits, minimum int) list {
	asNumber, asText := object{"type", "integer", "minimum", minimum}, object{"type", "string", "pattern", "^[0-9]+$"}
	if digits > 0 {
		asNumber.set("exclusiveMaximum", powerOfTen(digits))
		asText = object{"type", "string", "pattern", "^[0-9]{1," + strconv.Itoa(digits) + "}$"}
	}
	if minimum > 0 {
		asText = object{"type", "string", "pattern", "^0*[1-9][0-9]*$"}
	}
	return list{asText, asNumber}
}

// decimalOf returns the schemas of Number(digits,decimals), zero or above: the more decimals, the fewer digits before the
// point.
func decimalOf(digits, decimals int, aboveZero bool) list {
	var forms []string
	var numbers list
	for d := range decimals + 1 {
		form, step := "[0-9]{1,"+strconv.Itoa(digits-d)+"}", json.Number("1")
		if d > 0 {
			form += `\.[0-9]{` + strconv.Itoa(d) + "}"
			step = json.Number("0." + strings.Repeat("0", d-1) + "1")
		}
		forms = append(forms, form)
		numbers = append(numbers, object{"multipleOf", step, "exclusiveMaximum", powerOfTen(digits - d)})
	}
	asText := object{"type", "string", "pattern", "^0*(" + strings.Join(forms, "|") + ")$"}
	if aboveZero {
		return list{
			append(asText, "not", object{"pattern", `^[0.]*$`}), object{"type", "number", "exclusiveMinimum", 0, "anyOf", numbers},
		}
	}
	return list{asText, object{"type", "number", "minimum", 0, "anyOf", numbers}}
}
