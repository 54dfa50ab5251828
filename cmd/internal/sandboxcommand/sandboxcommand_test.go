package sandboxcommand

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestFlagForEveryOption sets every flag and looks for the options that none of them has reached.
func TestFlagForEveryOption(t *testing.T) {
	texts := map[string]string{
		"control": "anywhere", "duplicates": "executed", "refund-duplicates": "repeated", "location": "Asia/Tokyo",
	}
	usual, err := parse("sandbox", nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, name := range flagNames(t) {
		for _, value := range []string{"7", "7s", "true", cmp.Or(texts[name], "text")} { // whichever kind the flag has
			arg := "-" + name + "=" + value
			if _, err := parse("sandbox", []string{"-secret=s", arg}, io.Discard); err == nil {
				args = append(args, arg)
				break
			}
		}
	}
	all, err := parse("sandbox", args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	unreached := func(a, b reflect.Value) (names []string) {
		for _, f := range reflect.VisibleFields(a.Type()) {
			if f.Name != "Transport" && reflect.DeepEqual(a.FieldByIndex(f.Index).Interface(), b.FieldByIndex(f.Index).Interface()) {
				names = append(names, f.Name)
			}
		}
		return names
	}
	for name, of := range map[string]func(sandbox.Options) any{
		"Options":       func(o sandbox.Options) any { return o },
		"Cards":         func(o sandbox.Options) any { return o.Cards },
		"Responses":     func(o sandbox.Options) any { return o.Responses },
		"Search":        func(o sandbox.Options) any { return o.Search },
		"Notifications": func(o sandbox.Options) any { return o.Notifications },
		"Console":       func(o sandbox.Options) any { return o.Console },
	} {
		if got := unreached(reflect.ValueOf(of(usual.options)), reflect.ValueOf(of(all.options))); got != nil {
			t.Errorf("no flag changes %s.%v", name, got)
		}
	}
}

// TestOptionsAreExplained: an option is explained in its comment, from which the site's page of package sandbox is made, and no row of docs
// begins with one. Its flag has a help text.
func TestOptionsAreExplained(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../sandbox/options.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	options := 0
	ast.Inspect(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok || field.Tag == nil {
			return true
		}
		options++
		if name := field.Names[0].Name; field.Doc.Text()+field.Comment.Text() == "" {
			t.Errorf("%s has no comment", name)
		} else if strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/sandbox.md explains %s again", name)
		}
		return true
	})
	if options < 40 {
		t.Errorf("got %d options: they are not found", options)
	}
	var help strings.Builder
	if _, err := parse("sandbox", []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for lines := strings.Split(help.String(), "\n"); len(lines) > 1; lines = lines[1:] {
		if strings.HasPrefix(lines[0], "  -") && len(strings.TrimSpace(lines[1])) < 10 && !strings.Contains(lines[0], "\t") {
			t.Errorf("%s has no help", lines[0])
		}
	}
}

// flagNames reads the names of all flags from the help text.
func flagNames(t *testing.T) (names []string) {
	t.Helper()
	var help strings.Builder
	if _, err := parse("sandbox", []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Fatalf("-h: %v", err)
	}
	for line := range strings.Lines(help.String()) {
		if name, ok := strings.CutPrefix(line, "  -"); ok {
			names = append(names, strings.Fields(name)[0])
		}
	}
	return names
}

// TestOutput: the URL, the dashboard, and with -v a line for each request and each delivery.
func TestOutput(t *testing.T) {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }))
	defer shop.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, "sandbox", []string{"-v"}, in) }()
	lines := make(chan string, 10)
	go func() {
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	next := func() string {
		select {
		case line := <-lines:
			return line
		case <-time.After(30 * time.Second):
			t.Error("no further line")
			return ""
		}
	}
	base := next()
	if got, want := next(), "dashboard "+base+"/_sandbox/"; got != want {
		t.Errorf("second line %q, want %q", got, want)
	}
	request := `{"transactionId":"tx 1","orderId":"o","currency":"USD","amount":"8.80","transactionIp":"127.0.0.1","appId":7,
		"callbackUrl":"https://shop.example/","notificationUrl":"` + shop.URL + `/n?guard=AGsC0123","productInfos":[{}],
		"billingAddress":{"country":"US"},"extension":{"subscriptionCycle":"WEEK","subscriptionPeriod":3},
		"card":{"cardNumber":"4300000000000000","expiredMonth":"12","expiredYear":"39","cvv":"123","cardholder":"A"}}`
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(base+"/api/subscription", "application/json", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	for _, line := range []string{next(), next()} { // the delivery can overtake the response
		switch {
		case strings.Contains(line, "POST /api/subscription") && strings.Contains(line, "100 successful transaction") && strings.Contains(line, `"tx 1"`):
		case strings.Contains(line, "-> Sale") && strings.Contains(line, "HTTP 500") && strings.Contains(line, "again in"):
		default:
			t.Errorf("line %q is neither the request nor the delivery", line)
		}
		if strings.Contains(line, "AGsC0123") {
			t.Errorf("line %q shows what guards the notification URL", line)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	_ = in.Close()
}

// TestWrongFlags: a wrong flag is an error that names it, and prints nothing.
func TestWrongFlags(t *testing.T) {
	for _, test := range []struct {
		want string
		args []string
	}{
		{"-location", []string{"-location", "Nowhere/Land"}},
		{"extra", []string{"extra"}},
		{"-nosuchflag; -h lists the flags", []string{"-nosuchflag"}},
		{"-addr", []string{"-addr", "nonsense"}},
		{"-seed", []string{"-seed", "-1"}},
		{"-days", []string{"-days", "0"}},
		{"-merchant", []string{"-merchant", "m"}},
		{"-duplicates", []string{"-duplicates", "maybe"}},
		{"-control", []string{"-control", "everywhere"}},
		{`-currencies: "eur"`, []string{"-seed", "1", "-currencies", "USD,eur"}},
		{`-currencies: ""`, []string{"-seed", "1", "-currencies", "USD,"}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // what is accepted would be served
		var out strings.Builder
		err := Run(ctx, "sandbox", test.args, &out)
		if cancel(); err == nil || !strings.Contains(err.Error(), test.want) || out.Len() > 0 {
			t.Errorf("%v: got error %v and the output %q, want %q in the error, and no output", test.args, err, out.String(), test.want)
		}
	}
}
