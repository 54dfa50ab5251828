package verdict_test

import (
	"errors"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

func TestOf(t *testing.T) {
	failed := errors.New("connection reset")
	unreadable := errors.New("not JSON")
	approved := verdict.Statement{Code: 100, State: verdict.Approved, HasMerchantID: true, HasGatewayID: true}
	with := func(change func(*verdict.Statement)) verdict.Statement {
		s := approved
		change(&s)
		return s
	}
	object := []byte(`{"code":100}`)
	for _, tt := range []struct {
		name     string
		response verdict.Response
		says     verdict.Statement
		want     verdict.Verdict
	}{
		{"refused here for good", verdict.Response{Failure: failed, Invalid: true, Unsent: true}, verdict.Statement{}, verdict.Invalid},
		{"failed unsent", verdict.Response{Failure: failed, Unsent: true}, verdict.Statement{}, verdict.NotSent},
		{"failed", verdict.Response{Failure: failed}, verdict.Statement{}, verdict.Unknown},
		{"failed in a good response", verdict.Response{Failure: failed, Status: 200, Body: object}, approved, verdict.Unknown},

		{"accepted", verdict.Response{Status: 200}, approved, verdict.Accepted},
		{"in processing", verdict.Response{Status: 200}, with(func(s *verdict.Statement) { s.State = verdict.Processing }), verdict.Accepted},
		{"to be redirected", verdict.Response{Status: 200}, with(func(s *verdict.Statement) { s.State, s.HasRedirect = verdict.Redirect, true }), verdict.Accepted},
		{"to be redirected nowhere", verdict.Response{Status: 200}, with(func(s *verdict.Statement) { s.State = verdict.Redirect }), verdict.Unknown},
		{"a bad address", verdict.Response{Status: 200}, with(func(s *verdict.Statement) { s.BadRedirect = true }), verdict.Unknown},
		{
			"a bad address beside a decline", verdict.Response{Status: 200},
			with(func(s *verdict.Statement) { s.State, s.BadRedirect = verdict.Declined, true }), verdict.Unknown,
		},
		{"an unreadable member", verdict.Response{Status: 200}, with(func(s *verdict.Statement) { s.Bad = failed }), verdict.Unknown},
		{"about another", verdict.Response{Status: 200}, with(func(s *verdict.Statement) { s.Contradicts = verdict.ErrNotOurs }), verdict.Unknown},
		{"about nobody", verdict.Response{Status: 200}, with(func(s *verdict.Statement) { s.HasMerchantID = false }), verdict.Unknown},
		{"a code that says nothing", verdict.Response{Status: 200}, with(func(s *verdict.Statement) { s.State = verdict.Unclear }), verdict.Unknown},
		{"no statement", verdict.Response{Status: 200}, verdict.Statement{Unreadable: unreadable}, verdict.Unknown},

		{"declined", verdict.Response{Status: 200}, with(func(s *verdict.Statement) { s.State = verdict.Declined }), verdict.WasDeclined},
		{"declined, bare", verdict.Response{Status: 200}, verdict.Statement{State: verdict.Declined, NamesNothing: true}, verdict.WasDeclined},
		{"declined, of somebody", verdict.Response{Status: 200}, verdict.Statement{State: verdict.Declined}, verdict.Unknown},
		{"declined, bare, with an id in another spelling", verdict.Response{Status: 200, Body: []byte(`{"code":101,"transaction_id":"t-2"}`)}, verdict.Statement{State: verdict.Declined, NamesNothing: true}, verdict.Unknown},
		{"declined, bare, around another", verdict.Response{Status: 200, Body: []byte(`{"code":101,"data":{"transactionId":"t-2"}}`)}, verdict.Statement{State: verdict.Declined, NamesNothing: true}, verdict.Unknown},
		{
			"declined, of another", verdict.Response{Status: 200},
			with(func(s *verdict.Statement) { s.State, s.Contradicts = verdict.Declined, verdict.ErrOtherApp }), verdict.Unknown,
		},

		{"refused by code", verdict.Response{Status: 200}, verdict.Statement{Code: 401, Refuses: true}, verdict.Refused},
		{"refused by code, with what was sent", verdict.Response{Status: 200, Body: []byte(`{"code":400,"transactionId":"t-1","transactionAmount":"1"}`)}, verdict.Statement{Code: 400, Refuses: true, HasMerchantID: true}, verdict.Refused},
		{"refused by code, around a transaction", verdict.Response{Status: 200, Body: []byte(`{"code":400,"data":[{"code":100}]}`)}, verdict.Statement{Code: 400, Refuses: true}, verdict.Unknown},
		{"refused by code, around JSON", verdict.Response{Status: 200, Body: []byte(`{"code":404,"result":"{\"uniqueId\":\"1\"}"}`)}, verdict.Statement{Code: 404, Refuses: true}, verdict.Unknown},
		{"refused by code, as a repetition", verdict.Response{Status: 200, Body: []byte(`{"code":500,"message":"request parameter error","transactionMessage":"Duplicate transactionId"}`)}, verdict.Statement{Code: 500, Refuses: true}, verdict.Unknown},
		{"declined, bare, as a repetition", verdict.Response{Status: 200, Body: []byte(`{"code":101,"transactionMessage":"transactionId already exists"}`)}, verdict.Statement{State: verdict.Declined, NamesNothing: true}, verdict.Unknown},
		{"declined as a repetition, with the id", verdict.Response{Status: 200, Body: []byte(`{"code":101,"transactionId":"t-1","transactionMessage":"Duplicate transaction"}`)}, with(func(s *verdict.Statement) { s.State = verdict.Declined }), verdict.WasDeclined},
		{
			"refused by code, and exists", verdict.Response{Status: 200}, verdict.Statement{Code: 401, Refuses: true, HasMerchantID: true, HasGatewayID: true},
			verdict.Unknown,
		},

		{"401 without a body", verdict.Response{Status: 401}, verdict.Statement{Unreadable: unreadable}, verdict.Refused},
		{"401 with a page", verdict.Response{Status: 401, Body: []byte("<html>")}, verdict.Statement{Unreadable: unreadable}, verdict.Refused},
		{"401 without a body, cut or not", verdict.Response{Status: 401, MayBeCut: true}, verdict.Statement{Unreadable: unreadable}, verdict.Unknown},
		{"401 with a page, cut or not", verdict.Response{Status: 401, Body: []byte("<html>"), MayBeCut: true}, verdict.Statement{Unreadable: unreadable}, verdict.Unknown},
		{"403 with a page that has its end", verdict.Response{Status: 403, Body: []byte("<html><body><h1>403 Forbidden</h1></body></html>\n"), MayBeCut: true}, verdict.Statement{Unreadable: unreadable}, verdict.Refused},
		{"403 with a page that has its end, and speaks of a success", verdict.Response{Status: 403, Body: []byte("<html><body>Payment approved</body></html>"), MayBeCut: true}, verdict.Statement{Unreadable: unreadable}, verdict.Unknown},
		{"401 with a text, cut or not", verdict.Response{Status: 401, Body: []byte("This is"), MayBeCut: true}, verdict.Statement{Unreadable: unreadable}, verdict.Unknown},
		{"401 that says so, whole", verdict.Response{Status: 401, Body: object, MayBeCut: true}, verdict.Statement{Code: 401}, verdict.Refused},
		{"401 with half an object", verdict.Response{Status: 401, Body: []byte("\uFEFF {\"code\":")}, verdict.Statement{Unreadable: unreadable}, verdict.Unknown},
		{"401 with an id in a page", verdict.Response{Status: 401, Body: []byte("UniqueId 1")}, verdict.Statement{Unreadable: unreadable}, verdict.Unknown},
		{"401 that says so", verdict.Response{Status: 401, Body: object}, verdict.Statement{Code: 401}, verdict.Refused},
		{"401 without a code", verdict.Response{Status: 401, Body: object}, verdict.Statement{}, verdict.Refused},
		{"401 with another refusal", verdict.Response{Status: 401, Body: object}, verdict.Statement{Code: 400, Refuses: true}, verdict.Refused},
		{"401 with a decline", verdict.Response{Status: 401, Body: object}, verdict.Statement{Code: 101, State: verdict.Declined}, verdict.Refused},
		{"401 with a success", verdict.Response{Status: 401, Body: object}, verdict.Statement{Code: 100, State: verdict.Approved}, verdict.Unknown},
		{"401 of what exists", verdict.Response{Status: 401, Body: object}, verdict.Statement{Code: 401, HasGatewayID: true}, verdict.Unknown},
		{"401 about another", verdict.Response{Status: 401, Body: object}, verdict.Statement{Code: 401, Contradicts: verdict.ErrNotOurs}, verdict.Unknown},
		{"401 with an unreadable member", verdict.Response{Status: 401, Body: object}, verdict.Statement{Code: 401, Bad: failed}, verdict.Unknown},
		{"401 before the body", verdict.Response{Status: 401, Unsent: true}, verdict.Statement{Unreadable: unreadable}, verdict.Refused},

		{"408", verdict.Response{Status: 408}, verdict.Statement{Unreadable: unreadable}, verdict.Unknown},
		{"503 with a success", verdict.Response{Status: 503}, approved, verdict.Unknown},
		{"503 before the body", verdict.Response{Status: 503, Unsent: true}, approved, verdict.NotSent},
		{"302", verdict.Response{Status: 302}, verdict.Statement{Unreadable: unreadable}, verdict.Unknown},
		{"201 with a success", verdict.Response{Status: 201}, approved, verdict.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, cause := verdict.Of(&tt.response, &tt.says)
			if got != tt.want {
				t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
			}
			clear := got == verdict.Accepted || got == verdict.WasDeclined || got == verdict.Refused
			if (cause == nil) != clear {
				t.Errorf("%s: got cause %v", tt.name, cause)
			}
		})
	}
}

func TestHint(t *testing.T) {
	const wrong, tls, redirect = "; it does not look like a response of the gateway: is Config.BaseURL right?",
		", plain http sent to a TLS port; does Config.BaseURL begin with https?", ", a redirect, which is not followed; is Config.BaseURL right?"
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"a response of the gateway", 404, "\uFEFF {\"code\":404}", ""},
		{"a page with 200", 200, " <!DOCTYPE html>", wrong},
		{"a page with 403", 403, "<html>", wrong},
		{"a page with 499", 499, "<html>", wrong},
		{"a page with 500", 500, "<html>", ""},
		{"404 without a body", 404, "", wrong},
		{"405", 405, "no", wrong},
		{"400 without a body", 400, "", ""},
		{"a TLS port", 400, "Client sent an HTTP request to an HTTPS server.", tls},
		{"another TLS port", 400, "<html>The plain HTTP request was sent to HTTPS port</html>", tls},
		{"299", 299, "", ""}, {"300", 300, "", redirect}, {"399", 399, "", redirect},
		{"502 with text", 502, "bad gateway", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := verdict.Hint(tt.status, []byte(tt.body)); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		})
	}
}

func TestShows(t *testing.T) {
	for _, tt := range []struct {
		name string
		says verdict.Statement
		want bool
	}{
		{"nothing", verdict.Statement{}, false},
		{"an id of the merchant's alone", verdict.Statement{HasMerchantID: true}, false},
		{"a decline of it, which may be all there is", verdict.Statement{HasMerchantID: true, State: verdict.Declined}, false},
		{"with an id of the gateway's", verdict.Statement{HasMerchantID: true, HasGatewayID: true}, true},
		{"a success", verdict.Statement{HasMerchantID: true, State: verdict.Approved}, true},
		{"in processing, another amount", verdict.Statement{HasMerchantID: true, State: verdict.Processing, Contradicts: verdict.ErrNotOurs}, true},
		{"nobody's", verdict.Statement{HasGatewayID: true, State: verdict.Approved}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.says.Shows(); got != tt.want {
				t.Errorf("%s: got %t, want %t", tt.name, got, tt.want)
			}
		})
	}
}
