package check

import "strings"

// GoField returns the path of the struct field that a Problem names, such as ProductInfos[0].Price: for a key of Extra that
// breaks RuleReserved that of Extra, and for the token of a payment the name of the argument.
func GoField(field, rule string) string {
	path := strings.Split(field, ".")
	for i, member := range path {
		path[i] = goName(member)
	}
	if last := len(path) - 1; rule == RuleReserved && path[last] != "CurrPage" {
		path[last] = "Extra"
	}
	return strings.Join(path, ".")
}

// goName returns the Go name of a member that the interface names: transactionIp becomes TransactionIP.
func goName(member string) string {
	switch member {
	case "":
		return ""
	case "startDate":
		return "Start"
	case "endingDate":
		return "End"
	case "ctx", "token":
		return member
	case "sku", "cvv":
		return strings.ToUpper(member)
	}
	for _, word := range []string{"Id", "Ip", "Url"} {
		if start, ok := strings.CutSuffix(member, word); ok {
			member = start + strings.ToUpper(word)
		}
	}
	return strings.ToUpper(member[:1]) + member[1:]
}
