package verdict

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/escape"
	"github.com/cardgateway/cardgateway-go/internal/pattern"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// IsRefusalStatus reports whether a server uses the status for requests that it did not accept. 408 is not one of them: it
// may be the response of a server behind the first one.
func IsRefusalStatus(status int) bool {
	return slices.Contains([]int{400, 401, 403, 404, 405, 413, 415, 422, 429}, status)
}

// refuses reports whether the body of a response with such a status agrees that nothing was processed. It is empty, a page of
// HTML, a text, or an object, and it neither states a transaction nor speaks of one that was accepted, now or before. Anything else
// may report a transaction in an unexpected form.
func refuses(r *Response, says *Statement) bool {
	if speaksOfSuccess(r.Body) {
		return false
	}
	if says.Unreadable != nil {
		text := string(bytes.TrimSpace(r.Body))
		if r.MayBeCut && !strings.HasSuffix(strings.ToLower(text), "</html>") { // it may speak of a success after the cut; proxies send whole pages so
			return false
		}
		return text == "" || isPage(text) || isPlainText(text)
	}
	refusal := says.Refuses || says.State == Declined || says.Code == r.Status
	return (refusal || says.Code == 0 && !says.HasMerchantID) &&
		says.Bad == nil && !says.HasGatewayID && says.Contradicts == nil && !statesTransaction(r.Body, statementMembers)
}

// speaksOfSuccess reports whether a body has the words with which a gateway says that it has accepted something, or that it had done so
// before: as words, or within names such as ORDER_ALREADY_PAID, payment-in-progress and alreadyPaid. What a text that is not UTF-8 says
// is not known.
func speaksOfSuccess(body []byte) bool {
	text := betweenWords.Replace(strings.TrimSpace(html.UnescapeString(escape.JSON(body))))
	return !utf8.Valid(body) || success().MatchString(wordInName().ReplaceAllString(text, "$1 $2"))
}

var betweenWords = strings.NewReplacer("_", " ", "-", " ")

// success matches these words, of gateways that write English or Chinese.
var success = pattern.Of(`(?i)(^|[^a-z])(successful(ly)?|succeeded|approved|paid|charged|captured|debited|duplicat(e[ds]?|ion)|repeated|repetiti(on|ve)|already|previously|` +
	`conflict|replay(ed)?|resubmitted|(double|repeat) (submission|payment|request|order)|(must be|not) unique|in use|` +
	`((order|transaction|payment|sale|refund|subscription|checkout|charge|request|number|no|id) +((is|was|has( been)?) +)?|` +
	anID + `(is|was|has( been)?) )(exist(s|ed|ing)?|used|taken|pending|completed?|processed|accepted|confirmed|settled|received|` +
	`created|executed|authori[sz]ed|registered|submitted|finished|done|handled|placed|refunded|queued|scheduled|initiated|started|activated)|` + anID + `exists|subscription +(is +)?active|` +
	`in (process|progress)|is processing|being (processed|handled)|order processing)([^a-z]|$)|idempoten|成功|重复|重複|` +
	`已[经經]?被?(支付|付|存在|[处處]理|提交|完成|使用|扣|收|受理|[占佔]用|退款|申[请請]|[创創]建|[发發]起|[订訂][阅閱]|[签簽][约約])|` +
	`(支付|付款|交易|退款)完成|([处處]理|支付|付款|扣款|退款|[进進]行)中|正在(支付|退款|[处處]理)|唯一|` +
	`^\W*(ok|success|processing|pending|completed?|accepted|confirmed|settled|done)\W*$|(success|succeed|\b(ok|result|status))['"]?\s*[:=]\s*['"]?(true|1|y(es)?)\b|` +
	`[:=]\s*['"]?(ok|success|done|pending|completed?|settled|accept(ed)?|authori[sz]ed|confirmed|refund(ed|ing)|queued|active)\b|` +
	`[:=]\s*['"]?processing['"]?\s*([,}]|$)`)

// anID matches a word that may be an id, such as T-1.
const anID = `[a-z0-9]*[0-9][a-z0-9]*['")]* `

var (
	wordInName = pattern.Of(`([a-z])([A-Z])`)
	notInName  = pattern.Of(`[^A-Za-z]`)
)

// page matches the beginning of HTML: XML has other names. Comments may come first.
var page = pattern.Of(`(?is)^(<!--.*?-->\s*|<\?xml[^>]*\?>\s*)*<(!doctype\s+html|html|head|body|title|meta|script|style|center|div|table|font|span|pre|p|h[1-6]|[bh]r|b)[\s/>]`)

// isPage reports whether a text is a page of HTML that states no transaction: a program can write what it had to say after a warning.
func isPage(text string) bool {
	states := func(text string) bool { return namesTransaction(text) || reportsCode().MatchString(text) }
	return page().MatchString(text) && !states(text) && !escape.Hides(text, states)
}

// reportsCode matches a code with which a gateway accepts something, or says that it is not clear.
var reportsCode = pattern.Of(`(?i)(?:code|status)\b(\W{0,4}|(\W*<[^>]*>)+\W*|\W+(is|was|of|value)\W+)0*(100|102|11[01]|301|501|999)\b`)

// isPlainText reports whether a text consists of words: it has no member of an object or of an array, in no notation, and is
// neither a JSON value nor encoded data.
func isPlainText(text string) bool {
	const maxWord = 32 // bytes of a word
	unusual := func(c rune) bool {
		return unicode.IsControl(c) && !unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) || strings.ContainsRune(`{}[]<>"=\%`, c)
	}
	if strings.ContainsFunc(text, unusual) || reportsCode().MatchString(text) || namesTransaction(text) {
		return false
	}
	if slices.ContainsFunc(strings.Fields(text), func(word string) bool { return len(word) > maxWord }) {
		return false
	}
	d := wire.NewReader([]byte(text))
	defer d.Release()
	d.Value()
	return d.Finish() != nil
}

// denies reports whether an object with the code of a decline or a refusal speaks of no other outcome. If a proxy has sent the request
// twice, it can be the response to the second one.
func (r *Response) denies() bool {
	return !speaksOfSuccess(r.Body) && !statesTransaction(r.Body, resultMembers)
}

// statesTransaction reports whether an object states a transaction or a refund beside its own members: in other members, in other
// spellings, or in objects, lists and JSON within it.
func statesTransaction(object []byte, own []string) bool {
	d := wire.NewReader(object)
	defer d.Release()
	return statedBy(d, own, "")
}

// statedBy does that for the next value, which is the member of an object with a name: transaction with an id states a transactionId.
func statedBy(d *wire.Reader, own []string, of string) bool {
	switch d.Peek() {
	case '{':
		for name := range d.Members {
			isOwn := slices.Contains(own, string(name))
			if next := d.Peek(); isOwn || next == '{' || next == '[' {
				if statedBy(d, nil, string(name)) && !isOwn {
					return true
				}
				continue
			}
			text := d.Value().Text()
			member := strings.ToLower(notInName().ReplaceAllString(of+string(name), ""))
			isIn := func(known string) bool { return strings.HasSuffix(member, known) }
			if text != "" && slices.ContainsFunc(transactionMembers, isIn) ||
				(isIn("code") || isIn("status")) && reportsCode().MatchString("code "+text) || hasStatement(text) {
				return true
			}
		}
		return false
	case '[':
		for range d.Elements {
			if statedBy(d, nil, of) {
				return true
			}
		}
		return false
	}
	return hasStatement(d.Value().Text())
}

// hasStatement reports whether a text within an object has an object or a list that states a transaction, or such a code.
func hasStatement(text string) bool {
	return reportsCode().MatchString(text) || strings.ContainsAny(text, "{[") && namesTransaction(text)
}

var (
	// statementMembers are the members of a response from which its Statement is made.
	statementMembers = []string{"code", "transactionId", "uniqueId", "merchantRefundId", "refundUniqueId"}
	// resultMembers are those that the interface has for a result, which may repeat what was sent.
	resultMembers = append(statementMembers[:len(statementMembers):len(statementMembers)],
		"refundTransactionId", "transactionAmount", "refundAmount", "transactionCurrency", "refundCurrency", "transactionCardNumber", "redirectUrl")
	// transactionMembers are those of a transaction or a refund, which are all but the code, as Flat returns them.
	transactionMembers = strings.Fields(Flat(strings.Join(resultMembers[1:], " ")))
)

// namesTransaction reports whether a text has the name of such a member.
func namesTransaction(text string) bool {
	text = Flat(text)
	return slices.ContainsFunc(transactionMembers, func(member string) bool { return strings.Contains(text, member) })
}

// Flat returns a text in small letters without the marks between the words of a name: gateways write names in several ways.
func Flat(text string) string { return strings.ToLower(nameMarks.Replace(text)) }

var nameMarks = strings.NewReplacer("_", "", "-", "")
