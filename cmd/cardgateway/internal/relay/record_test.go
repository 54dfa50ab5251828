package relay

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/notify"
)

// TestRecordBody: of what is published the value is kept, of all else the name.
func TestRecordBody(t *testing.T) {
	const token = "tok1234567890abcdef"
	for _, test := range []struct {
		name, body, contentType string
		want                    string
		masked                  string
	}{
		{"published",
			`{"appId":1862433537316352001,"uniqueId":"1600000000000002994","transactionId":"t-1","transactionAmount":12.50,"isTest":true,"code":100,"sign":"ab"}`,
			"application/json",
			`{"appId":1862433537316352001,"code":100,"isTest":true,"transactionAmount":12.50,"transactionId":"t-1","uniqueId":"1600000000000002994"}`, ""},
		{"token", `{"uniqueId":"1","token":"` + token + `"}`, "application/json", `{"token":"***","uniqueId":"1"}`, "token"},
		{"unknown members", `{"uniqueId":"1","hint":"` + token + `","list":[1],"map":{"a":1},"n":5,"none":null}`, "application/json",
			`{"hint":"***","list":"***","map":"***","n":"***","none":null,"uniqueId":"1"}`, "hint list map n"},
		{"token as a name", `{"uniqueId":"1","token":"` + token + `","` + token + `":1,"4300000000000000":2}`, "application/json",
			`{"***":"***","token":"***","uniqueId":"1"}`, "*** *** token"},
		{"token in a text", `{"uniqueId":"1","token":"` + token + `","message":"stored ` + token + `","refundMessage":"\u0074ok1234567890abcdef"}`,
			"application/json",
			`{"message":"***","refundMessage":"***","token":"***","uniqueId":"1"}`, "message refundMessage token"},
		{"token as an id", `{"uniqueId":"1","token":"` + token + `","transactionId":"` + token + `"}`, "application/json",
			`{"token":"***","transactionId":"***","uniqueId":"1"}`, "token transactionId"},
		{"card number",
			`{"uniqueId":"1","transactionCardNumber":"4300000000000000","billDescription":"card 4300 0000 0000 0000","transactionAmount":"4300000000000000"}`,
			"application/json",
			`{"billDescription":"card 430000******0000","transactionAmount":"***","transactionCardNumber":"430000******0000","uniqueId":"1"}`, "transactionAmount"},
		{"card data as a gateway may write it",
			`{"uniqueId":"1","message":"CVV: 973 is wrong","billDescription":"4111.1111.1111.1111","transactionType":"4111/1111/1111/1111"}`, "application/json",
			`{"billDescription":"411111******1111","message":"CVV: *** is wrong","transactionType":"***","uniqueId":"1"}`, "transactionType"},
		{"an object for a text", `{"uniqueId":"1","message":{"a":"b"},"transactionCardNumber":["4300000000000000"]}`, "application/json",
			`{"message":"***","transactionCardNumber":"***","uniqueId":"1"}`, "message transactionCardNumber"},
		{"not UTF-8", `{"uniqueId":"1","timestamp":"x` + "\xff\xfe" + `","transactionType":"Sa` + "\xff" + `le"}`, "application/json",
			"{\"timestamp\":\"x\ufffd\ufffd\",\"transactionType\":\"Sa\ufffdle\",\"uniqueId\":\"1\"}", ""},
		{"secret key", `{"uniqueId":"1","message":"key ` + secretKey + `"}`, "application/json", `{"message":"***","uniqueId":"1"}`, "message"},
		{"a form", "uniqueId=1&token=" + token + "&transactionAmount=12.50&message=a%26b", "application/x-www-form-urlencoded; charset=utf-8",
			`{"message":"a\u0026b","token":"***","transactionAmount":"12.50","uniqueId":"1"}`, "token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n, err := notify.Parse([]byte(test.body), test.contentType)
			if err != nil {
				t.Fatal(err)
			}
			members, masked := RecordBody([]byte(test.body), test.contentType, n, Hide(secretKey, n.Token))
			got, err := json.Marshal(members)
			if err != nil || string(got) != test.want || strings.Join(masked, " ") != test.masked {
				t.Errorf("got %s without %q, %v\nwant %s without %q", got, masked, err, test.want, test.masked)
			}
		})
	}
}

// TestRecordTakesNoMore: a full disk is said once, and again at the end.
func TestRecordTakesNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	for name, breakIt := range map[string]func(*Recorder){
		"the disk": func(r *Recorder) { r.file.Close() },
		"the size": func(r *Recorder) { r.size = maxRecord },
	} {
		t.Run(name, func(t *testing.T) {
			r, last, err := OpenRecord(path)
			if err != nil || last != 0 {
				t.Fatal(last, err)
			}
			defer r.file.Close()
			breakIt(r)
			first, second, end := r.Write(&Recorded{Delivery: "n-1"}), r.Write(&Recorded{Delivery: "n-2"}), r.Close()
			if first == nil || second != nil || end == nil {
				t.Errorf("got %v, %v and %v, want an error at first and at the end", first, second, end)
			}
			if text, err := os.ReadFile(path); err != nil || len(text) != 0 {
				t.Errorf("got %s, %v, want nothing recorded", text, err)
			}
		})
	}
}

// FuzzRecord reads a record that anybody may have written: what is read can be signed and sent.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"delivery":"n-1","event":{"kind":"payment"},"outcome":"failed","ms":1,"contentType":"application/json",` +
		`"body":{"uniqueId":"1","code":100,"token":"***"},"masked":["token"]}` + "\n"))
	f.Add([]byte(`{"delivery":"n-2","event":{},"contentType":"application/x-www-form-urlencoded","body":{"a":[{"b":null}],"c":1e999}}` + "\n{}"))
	f.Add([]byte("null\n"))
	f.Add([]byte(`{"delivery":"n-1","body":{"message":` + "\"\x8c\"}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		reader := NewReader(bytes.NewReader(text))
		verify := notify.SignatureSHA256(secretKey)
		for d, err := range reader.All() {
			if reader.good > int64(len(text)) {
				t.Fatalf("got %d good bytes of %d", reader.good, len(text))
			}
			if err != nil {
				return
			}
			if Number(d.Delivery) == 0 {
				t.Fatalf("got delivery %q", d.Delivery)
			}
			body, err := Signed(d, secretKey)
			if err != nil || isForm(d.ContentType) {
				continue
			}
			if n, err := notify.Parse(body, "application/json"); err == nil && verify(n) != nil {
				t.Errorf("got %s with a wrong signature", body)
			}
		}
	})
}

// FuzzRecordBody: whatever a notification looks like, its token is not in what is recorded.
func FuzzRecordBody(f *testing.F) {
	f.Add(`{"uniqueId":"1","token":"tok1234567890abcdef","message":"tok1234567890abcdef"}`, false)
	f.Add("uniqueId=1&token=tok1234567890abcdef", true)
	f.Fuzz(func(t *testing.T, body string, form bool) {
		contentType := "application/json"
		if form {
			contentType = "application/x-www-form-urlencoded"
		}
		n, err := notify.Parse([]byte(body), contentType)
		if err != nil || len(n.Token.Reveal()) < 12 {
			return
		}
		members, _ := RecordBody([]byte(body), contentType, n, Hide(secretKey, n.Token))
		for name, value := range members {
			var text string
			if json.Unmarshal(value, &text) != nil {
				text = string(value)
			}
			if strings.Contains(name+" "+text, n.Token.Reveal()) {
				t.Errorf("got the token in %s: %s", name, value)
			}
		}
	})
}
