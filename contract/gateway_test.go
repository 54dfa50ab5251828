package contract

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// gateway is a sandbox that is used over plain HTTP.
type gateway struct {
	*sandbox.Gateway
	transport http.RoundTripper
	token     string // of a card that is approved
}

func newGateway(t testing.TB, options sandbox.Options) *gateway {
	t.Helper()
	options.NoNotifications = true
	options.Console.RequestLog = -1
	g := &gateway{Gateway: sandbox.New(options)}
	t.Cleanup(func() { g.Close() })
	g.transport = g.RoundTripper()
	g.token = g.NewToken(sandbox.Approved)
	return g
}

// send sends a request and stores the response in it. The token of the tests is replaced by one that the gateway knows.
func (g *gateway) send(m *message) error {
	r := m.request()
	if strings.HasPrefix(r.URL.Path, tokenPath) {
		u, err := url.Parse(baseURL + tokenPath + url.PathEscape(g.token))
		if err != nil {
			return err
		}
		r.URL = u
	}
	response, err := g.transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	m.status, m.responseHeader = response.StatusCode, response.Header
	m.response, err = io.ReadAll(response.Body)
	return err
}

const tokenPath = "/checkout/tokenization/payment/"

// answer is the part of a response that the tests read.
type answer struct {
	Code                           int
	UniqueID, RedirectURL, Message string
}

func (m *message) answer() (a answer, err error) {
	err = json.Unmarshal(m.response, &a)
	return a, err
}

// takes reports whether the gateway accepted the format of a request, whatever the outcome, for example a decline or an
// unknown id.
func (g *gateway) takes(m *message) (bool, error) {
	if err := g.send(m); err != nil {
		return false, err
	}
	a, err := m.answer()
	if err != nil {
		return false, err
	}
	switch a.Code {
	case 500:
		return false, nil
	case 404: // of the id, or of the path
		return m.status != http.StatusNotFound, nil
	case 142: // also the code of too few and of too many shipments
		return strings.Contains(a.Message, "unknown"), nil
	}
	return true, nil
}
