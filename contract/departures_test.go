package contract

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/cardgateway/cardgateway-go"
)

// departure is an intended difference.
type departure struct {
	name, reason string
	used         int
}

// departures are all intended differences. The interface does not define the behavior in these cases.
type departures map[string]*departure

func newDepartures(list ...departure) departures {
	d := make(departures)
	for _, one := range list {
		d[one.name] = &one
	}
	return d
}

// take records that a difference occurred, and reports whether it is intended.
func (d departures) take(name string) bool {
	if d[name] == nil {
		return false
	}
	d[name].used++
	return true
}

// report prints the list, and fails the test for entries that never occurred.
func (d departures) report(t *testing.T) {
	t.Helper()
	for _, one := range d {
		t.Logf("meant, %d times: %s: %s", one.used, one.name, one.reason)
		if one.used == 0 {
			t.Errorf("the departure %q is in the list and was never met", one.name)
		}
	}
}

// Departures for requests: in two the sandbox is more tolerant than the description, in the others the client is stricter.
func requestDepartures() departures {
	return newDepartures(
		departure{name: "null",
			reason: "the sandbox takes null of an optional member for a member that is not there; neither the interface nor what is published shows one"},
		departure{name: "empty parameter", reason: "the sandbox takes an empty currPage or pageSize for one that is not there"},
		departure{name: "address", reason: "the client refuses as transactionIp what is certainly no IP address: a host name, an address with a port"},
		departure{name: "control characters", reason: "the client refuses them in texts that have a limit"},
		departure{name: "white space", reason: "the client refuses an id that is nothing else"},
		departure{name: "product currency", reason: "the client asks for three capital letters there too, as in the payment's own currency"},
		departure{name: "URL", reason: "the client refuses URLs that it would not open itself: with white space, user info or a malformed host"},
		departure{name: "digits", reason: "the client asks for digits in a uniqueId, since results show it as numeric text"},
		departure{name: "year", reason: "the client takes the years 1 to 9998 for a query"},
	)
}

// meant reports whether everything that a client rejected is in the list.
func (d departures) meant(err error, value any) bool {
	invalid, ok := errors.AsType[*cardgateway.ValidationError](err)
	if !ok {
		return false
	}
	for _, p := range invalid.Problems {
		member := p.Field[strings.LastIndexByte(p.Field, '.')+1:]
		text, _ := value.(string)
		var name string
		switch {
		case p.Rule == cardgateway.RuleRange && (member == "startDate" || member == "endingDate"):
			name = "year"
		case p.Rule != cardgateway.RuleFormat:
			return false
		case member == "transactionIp":
			name = "address"
		case member == "uniqueId":
			name = "digits"
		case strings.HasPrefix(p.Field, "productInfos[") && member == "currency":
			name = "product currency"
		case strings.HasSuffix(member, "Url"):
			name = "URL"
		case strings.ContainsFunc(text, unicode.IsControl):
			name = "control characters"
		case text != "" && strings.TrimSpace(text) == "":
			name = "white space"
		}
		if !d.take(name) {
			return false
		}
	}
	return true
}
