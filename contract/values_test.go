package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// values generates random values for schemas. They are meant to be valid; the library decides whether they are.
type values struct {
	*rand.Rand
	full   bool // every optional member is given
	client bool // if there are several types, the one that the client uses
}

func newValues(seed uint64) values { return values{Rand: rand.New(rand.NewPCG(seed, 1))} }

func (v values) coin() bool { return v.full || v.IntN(2) == 0 }

// of returns a value for a schema, for the member of that name.
func (v values) of(s schema, name string) any {
	s = merged(s)
	if hint := v.hint(name); hint != nil {
		return hint
	}
	switch {
	case s["const"] != nil:
		return s["const"]
	case s["enum"] != nil:
		list := asList(s["enum"])
		return list[v.IntN(len(list))]
	case s["anyOf"] != nil:
		branches := subschemas(s, "anyOf")
		branch := maps.Clone(s)
		delete(branch, "anyOf")
		i := v.IntN(len(branches))
		if v.client && s["type"] == nil {
			i = 0 // text
			if name == "appId" || name == "subscriptionPeriod" {
				i = 1
			}
		}
		maps.Copy(branch, merged(branches[i]))
		return v.of(branch, name)
	case s["type"] == "array":
		return v.array(s)
	case s["type"] == "object", s["properties"] != nil:
		return v.object(s)
	case s["type"] == "boolean":
		return v.IntN(2) == 0
	case s["type"] == "integer", s["type"] == "number":
		return v.number(s)
	}
	return v.text(s)
}

// hint returns a value for a member with rules that no schema can express.
func (v values) hint(name string) any {
	if strings.HasSuffix(name, "At") { // a day that every calendar has
		return fmt.Sprintf("20%02d-02-%02d %02d:00:59", v.IntN(100), 1+v.IntN(28), v.IntN(24))
	}
	switch name {
	case "transactionIp": // host names are rejected, and every short text could be one
		return fmt.Sprintf("203.0.113.%d", v.IntN(256))
	case "currency":
		if v.client {
			return []string{"EUR", "USD", "JPY", "KWD"}[v.IntN(4)]
		}
	case "redirectUrl":
		return fmt.Sprintf("https://pay.example/%d", v.IntN(1000))
	case "currPage", "pageSize":
		if v.client {
			return strconv.Itoa(1 + v.IntN(999))
		}
	case "uniqueId":
		if v.client {
			return strconv.Itoa(v.IntN(1e9))
		}
	case "callbackUrl", "notificationUrl":
		if v.client { // the client rejects URLs that it would not open
			return fmt.Sprintf("https://shop.example/%d?o=%d#x", v.IntN(1000), v.IntN(1000))
		}
	case "startDate": // in order, and at most a month apart
		return fmt.Sprintf("2024-02-%02d %02d:00:00", 1+v.IntN(9), v.IntN(24))
	case "endingDate":
		return fmt.Sprintf("2024-02-%d %02d:00:00", 10+v.IntN(19), v.IntN(24))
	}
	return nil
}

func (v values) object(s schema) any {
	o := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties(s))) {
		if requires(s, name) || v.coin() {
			o[name] = v.of(properties(s)[name].(schema), name)
		}
	}
	if condition, ok := s["if"].(schema); ok && compiled(condition).Validate(any(o)) == nil {
		for _, name := range asList(s["then"].(schema)["required"]) {
			o[name.(string)] = v.of(properties(s)[name.(string)].(schema), name.(string))
		}
	}
	return o
}

func (v values) array(s schema) any {
	least, _ := number(s, "minItems")
	most, ok := number(s, "maxItems")
	if !ok || most > least+2 {
		most = least + 2
	}
	a := make([]any, least+v.IntN(most-least+1))
	for i := range a {
		a[i] = v.of(s["items"].(schema), "")
	}
	return a
}

// number returns a number in plain digits, without trailing zeros.
func (v values) number(s schema) any {
	decimals := 0
	if step, ok := s["multipleOf"].(json.Number); ok {
		_, fraction, _ := strings.Cut(step.String(), ".")
		decimals = len(fraction)
	}
	digits := 6
	if limit, ok := s["exclusiveMaximum"].(json.Number); ok {
		digits = min(digits, len(limit.String())-1)
	}
	text := strconv.Itoa(1 + v.IntN(9))
	for len(text) < digits && v.IntN(4) > 0 {
		text += strconv.Itoa(v.IntN(10))
	}
	if decimals > 0 {
		text += "."
		for range decimals {
			text += strconv.Itoa(1 + v.IntN(9))
		}
	}
	return json.Number(text)
}

// text returns a text that matches the schema's pattern, or any text.
func (v values) text(s schema) any {
	if pattern, ok := s["pattern"].(string); ok {
		not, hasNot := s["not"].(schema)
		most, isLimited := number(s, "maxLength")
		for {
			text := v.matching(pattern)
			if isLimited && len([]rune(text)) > most || hasNot && regexp.MustCompile(not["pattern"].(string)).MatchString(text) {
				continue
			}
			return text
		}
	}
	least, _ := number(s, "minLength")
	most, ok := number(s, "maxLength")
	if !ok {
		most = 300
	}
	length := least + v.IntN(min(most-least, 20)+1)
	if v.IntN(20) == 0 {
		length = least + v.IntN(most-least+1)
	}
	return v.anyText(length)
}

// anyText returns so many characters, of one to four bytes; the first is not white space.
func (v values) anyText(n int) string {
	const first, more = "abcXYZ019単é€🍰", ` -_.,:;/\"'<>&%+=?#{}[]()|~^` + "`$!@*" + "\u00a0\u200b"
	characters := []rune(first)
	var b strings.Builder
	for i := range n {
		if i == 1 {
			characters = []rune(first + first + more)
		}
		b.WriteRune(characters[v.IntN(len(characters))])
	}
	return b.String()
}

// matching returns a text that matches an anchored pattern.
func (v values) matching(pattern string) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err) // cannot happen: the library accepted the pattern
	}
	var b strings.Builder
	v.write(&b, tree.Simplify())
	if !strings.HasSuffix(pattern, "$") { // an open end
		b.WriteString("x" + strings.Repeat("y", v.IntN(20)))
	}
	return b.String()
}

func (v values) write(b *strings.Builder, tree *syntax.Regexp) {
	repeat := func(least, most int) {
		for range least + v.IntN(most-least+1) {
			v.write(b, tree.Sub[0])
		}
	}
	switch tree.Op {
	case syntax.OpLiteral:
		b.WriteString(string(tree.Rune))
	case syntax.OpCharClass:
		for {
			i := 2 * v.IntN(len(tree.Rune)/2)
			low, high := max(tree.Rune[i], '!'), min(tree.Rune[i+1], 'ö')
			if low > '~' {
				low = max(low, 'à')
			} else {
				high = min(high, '~')
			}
			if low <= high {
				b.WriteRune(low + v.Int32N(high-low+1))
				break
			}
		}
	case syntax.OpConcat:
		for _, sub := range tree.Sub {
			v.write(b, sub)
		}
	case syntax.OpAlternate:
		v.write(b, tree.Sub[v.IntN(len(tree.Sub))])
	case syntax.OpCapture:
		v.write(b, tree.Sub[0])
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpStar:
		repeat(0, 2)
	case syntax.OpPlus:
		repeat(1, 7)
	case syntax.OpRepeat:
		repeat(tree.Min, tree.Max)
	}
}

// near returns values of all kinds for a member: at its limits and just beyond, with its format and almost, and of other
// types.
func (v values) near(s schema, name string) []any {
	list := []any{
		absent{}, nil, true, false, json.Number("0"), json.Number("7"), json.Number("-7"), json.Number("7.5"),
		"", "x", "7", "-7", "7.5", "true", " ", "a\tb", "9999-02-01 00:00:00", "2023-02-29", map[string]any{}, []any{}, []any{json.Number("7")},
		[]any{map[string]any{}},
	}
	for range 4 {
		list = append(list, v.of(s, name))
	}
	forms := []schema{s}
	for _, branch := range subschemas(s, "anyOf") {
		forms = append(forms, merged(branch))
	}
	if more, ok := s["x-published"].(schema); ok {
		forms = append(forms, more)
		forms = append(forms, subschemas(more, "anyOf")...)
	}
	for _, form := range forms {
		list = append(list, v.nearForm(form, name)...)
	}
	seen := make(map[string]bool)
	return slices.DeleteFunc(list, func(value any) bool {
		text := string(encode(valueText(value)))
		again := seen[text]
		seen[text] = true
		return again
	})
}

func (v values) nearForm(s schema, name string) (list []any) {
	if n, ok := number(s, "maxLength"); ok {
		start := ""
		if s["pattern"] != nil {
			start = v.matching(s["pattern"].(string))
		}
		for _, fill := range []string{"x", "1", "é", "🍰"} {
			for _, length := range []int{n - 1, n, n + 1, n + 2} {
				list = append(list, start+strings.Repeat(fill, max(0, length-len([]rune(start)))))
			}
		}
	}
	list = append(list, asList(s["enum"])...)
	if s["const"] != nil {
		list = append(list, s["const"])
	}
	if pattern, ok := s["pattern"].(string); ok {
		for range 3 {
			text := v.matching(pattern)
			list = append(list, text, text+"x", text+" ", " "+text, text+"\n", "0"+text, text+"0", "-"+text, text+".5", strings.ToLower(text))
			if text != "" {
				at := v.IntN(len(text))
				list = append(list, text[:at]+"a"+text[at+1:], text[:at]+"."+text[at+1:], text[:len(text)-1], text[1:])
			}
		}
		list = append(list, v.longest(pattern)...)
	}
	for _, keyword := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		if limit, ok := s[keyword].(json.Number); ok {
			list = append(list, plus(limit, -1), limit, plus(limit, 1))
		}
	}
	for _, branch := range subschemas(s, "anyOf") { // of multipleOf and exclusiveMaximum
		step, isStep := branch["multipleOf"].(json.Number)
		limit, isLimited := branch["exclusiveMaximum"].(json.Number)
		if isStep && isLimited {
			largest := new(big.Rat).Sub(rat(limit), rat(step))
			_, fraction, _ := strings.Cut(step.String(), ".")
			for _, n := range []*big.Rat{largest, rat(step), new(big.Rat).Quo(rat(step), big.NewRat(10, 1)), new(big.Rat).Add(rat(limit), rat(step))} {
				list = append(list, json.Number(strings.TrimRight(n.FloatString(len(fraction)+1), "0")))
			}
		}
	}
	for i, n := range list {
		if text, ok := n.(json.Number); ok {
			list[i] = json.Number(strings.TrimSuffix(text.String(), "."))
		}
	}
	if least, ok := number(s, "minItems"); ok {
		items := func(n int) []any {
			a := make([]any, n)
			for i := range a {
				a[i] = v.of(s["items"].(schema), "")
			}
			return a
		}
		list = append(list, items(least), items(least+1), items(max(0, least-1)))
		if most, ok := number(s, "maxItems"); ok {
			list = append(list, items(most), items(most+1))
		}
	}
	return list
}

// longest returns the longest texts of a pattern of digits, and texts that are one character longer.
func (v values) longest(pattern string) (list []any) {
	for _, bound := range regexp.MustCompile(`\{1,([0-9]+)\}|\{([0-9]+)(?:,[0-9]+)?\}`).FindAllStringSubmatch(pattern, -1) {
		n, err := strconv.Atoi(bound[1] + bound[2])
		if err != nil || n > 400 {
			continue
		}
		for _, length := range []int{n - 1, n, n + 1} {
			list = append(list, strings.Repeat("7", max(0, length)))
			for decimals := range 5 {
				list = append(list, strings.Repeat("7", max(0, length))+"."+strings.Repeat("7", decimals))
			}
		}
	}
	return list
}

func rat(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		panic("not a number: " + n.String())
	}
	return r
}

func plus(n json.Number, d int64) json.Number {
	sum := new(big.Rat).Add(rat(n), big.NewRat(d, 1))
	if sum.IsInt() {
		return json.Number(sum.Num().String())
	}
	return json.Number(sum.FloatString(6))
}
