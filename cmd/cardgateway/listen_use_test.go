package main

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestListenNothing: Ctrl-C ends it, without a word about requests in flight.
func TestListenNothing(t *testing.T) {
	r := listen(t, environment(notifyingGateway(t).URL)).end(t)
	r.want(t, exit.OK, "received 0: ")
	lacks(t, r.err, "in flight")
}

func TestListenWrongUse(t *testing.T) {
	server := notifyingGateway(t)
	env := environment(server.URL)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	for _, test := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"all interfaces", env, []string{"--addr", ":0"}, "other machines can reach --addr :0: use --public to allow that, or listen on 127.0.0.1:0"},
		{"another interface", env, []string{"--addr", "192.0.2.1:80"}, "use --public"},
		{"no port", env, []string{"--addr", "localhost"}, `--addr: "localhost" is not an address; write 127.0.0.1:4242`},
		{"a port that is taken", env, []string{"--addr", taken.Addr().String()}, "address already in use"},
		{"no URL", env, []string{"--forward-to", "localhost:8080"}, "--forward-to must be an http or https URL"},
		{"a password", env, []string{"--forward-to", "http://a:pw-1@localhost/"}, "--forward-to must not have a user or a password"},
		{"no secret", map[string]string{"CARDGATEWAY_BASE_URL": server.URL, "CARDGATEWAY_APP_ID": "7"}, nil,
			"the secret key is missing, which verifies signatures: set CARDGATEWAY_SECRET"},
		{"no settings", nil, nil, "base-url is missing"},
		{"a timeout", env, []string{"--forward-to", "http://localhost/", "--timeout", "soon"}, "timeout (flag --timeout)"},
		{"to itself", env, []string{"--addr", free.Addr().String(), "--forward-to", "http://" + free.Addr().String() + "/"},
			"notifications would be forwarded to this program itself"},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := test.args
			if !strings.Contains(strings.Join(args, " "), "--addr") {
				args = append(args, "--addr", "127.0.0.1:0")
			}
			r := tool(t, test.env, append([]string{"listen"}, args...)...)
			r.want(t, exit.Failed, test.want)
			lacks(t, r.err, "pw-1", "listening")
		})
	}
	t.Run("nobody reads the lines", func(t *testing.T) {
		id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := free.Addr().String()
		free.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 200 {
				if resp, err := http.DefaultClient.Do(about(t, "http://"+addr, secretKey, "t-1", id)); err == nil {
					resp.Body.Close()
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
		r := toolTo(t, full{}, env, "listen", "--addr", addr)
		<-done
		r.want(t, exit.Failed, "the lines cannot be written: no space left on device")
	})
}
