package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/metrics"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
)

// system is what the program uses of its surroundings.
type system struct {
	in        io.Reader
	out, err  io.Writer
	getenv    func(string) string
	configDir func() (string, error)
	now       func() time.Time
}

// call is one run of the program: what its command gets.
type call struct {
	system
	ctx      context.Context
	settings *settings.Flags
	metrics  []metrics.Metric // what --metrics-file says of the command's own
}

// load finds the settings.
func (c *call) load() (*settings.Settings, error) {
	return c.settings.Load(c.ctx, settings.Source{Getenv: c.getenv, ConfigDir: c.configDir, Stderr: c.err})
}

// client makes the client that the settings describe.
func (c *call) client() (*cardgateway.Client, error) {
	_, client, err := c.configure(nil)
	return client, err
}

// configure finds the settings and makes their client. Transport is nil for the usual one.
func (c *call) configure(transport http.RoundTripper) (*settings.Settings, *cardgateway.Client, error) {
	set, err := c.load()
	if err != nil {
		return nil, nil, err
	}
	client, err := set.Client(transport)
	return set, client, err
}

// say tells people something that scripts do not need.
func (c *call) say(format string, args ...any) {
	if !c.settings.Quiet {
		c.tell(format, args...)
	}
}

// tell tells people something.
func (c *call) tell(format string, args ...any) {
	fmt.Fprintf(c.err, "cardgateway: "+format+"\n", args...)
}
