package redact_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/internal/redact"
)

func TestAddHeaderByName(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "Proxy-Authorization": true, "X-Shop-Auth": true, "Cookie": true, "Set-Cookie": true, "X-Api-Key": true, "Apikey": true,
		"X-Access-Token": true, "X-Client-Secret": true, "Signature": true, "X-Sign": true, "X-Password": true, "X-Pass": true, "X-AUTH": true,
		"X-Session": true, "X-Pwd": true, "X-Api-Credential": true, "X-Hmac": true, "X-Jwt": true, "Digest": true,
		"X-Sig": true, "X-Mac": true, "X-Hash": true, "X-Access-Code": true,
		"x-key-id": true, "X-Key-Type-2": true,

		"Idempotency-Key": false, "X-Idempotency-Key": false, "X-Sign-Type": false, "X-Auth-Version": false, "X-Signature-Method": false,
		"X-Signature-Algorithm": false, "X-Auth-Date": false, "X-Sign-Timestamp": false, "X-Auth-User": false,
		"Accept": false, "Content-Type": false, "User-Agent": false, "X-Request-Id": false, "": false,
	} {
		t.Run(name, func(t *testing.T) {
			var s redact.Secrets
			s.AddHeader(http.Header{name: {"harmless?"}})
			if got := len(s) > 0; got != want {
				t.Errorf("%q carries credentials: got %t, want %t", name, got, want)
			}
		})
	}
}

func TestAddHeaderByValue(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []string
		want   []string
	}{
		{"nothing", nil, nil},
		{"short", []string{"abc"}, nil},
		{"four bytes", []string{"abcd"}, []string{"abcd"}},
		{"a short one under a scheme", []string{"Bearer abc"}, []string{"Bearer abc"}},
		{"under a scheme", []string{"Bearer s3cr3t"}, []string{"Bearer s3cr3t", "s3cr3t"}},
		{"Basic", []string{"Basic bWVyY2hhbnQ6c2VjcmV0IQ=="}, []string{
			"Basic bWVyY2hhbnQ6c2VjcmV0IQ==", "bWVyY2hhbnQ6c2VjcmV0IQ==", "bWVyY2hhbnQ6c2VjcmV0IQ", "secret!",
		}},
		{"Basic with a short password", []string{"Basic bTphYmM="}, []string{"Basic bTphYmM=", "bTphYmM="}},
		{"Basic that is none", []string{"Basic not-base-64"}, []string{"Basic not-base-64", "not-base-64"}},
		{"a list", []string{"ApiKey merchant-77:key-after-a-colon"}, []string{
			"ApiKey merchant-77:key-after-a-colon", "merchant-77:key-after-a-colon", "key-after-a-colon",
		}},
		{"every separator", []string{"aaaaaaaaaaaa\tbbbbbbbbbbbb,cccccccccccc;dddddddddddd=\"eeeeeeeeeeee\" short"}, []string{
			"aaaaaaaaaaaa\tbbbbbbbbbbbb,cccccccccccc;dddddddddddd=\"eeeeeeeeeeee\" short",
			`aaaaaaaaaaaa\tbbbbbbbbbbbb,cccccccccccc;dddddddddddd=\"eeeeeeeeeeee\" short`, // as an error quotes it
			"short", "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddddddddd", "eeeeeeeeeeee",
		}},
		{"several values", []string{"first", "second"}, []string{"first", "second"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s redact.Secrets
			s.AddHeader(http.Header{"Authorization": tt.values})
			got, want := texts(s), slices.Clone(tt.want)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		})
	}
}
