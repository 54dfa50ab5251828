package loopback

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// Process is a server in a separate process, so that the CPU time and the allocations of this process are only the
// client's.
type Process struct {
	hello
	Roots *x509.CertPool // that the TLS server's certificate is verified against

	cmd   *exec.Cmd
	stdin io.Closer
}

// Start runs the program at path, which must call Serve, and waits until it serves.
func Start(ctx context.Context, path string, env ...string) (*Process, error) {
	p := &Process{cmd: exec.CommandContext(ctx, path), Roots: x509.NewCertPool()}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = os.Stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := json.NewDecoder(stdout).Decode(&p.hello); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if !p.Roots.AppendCertsFromPEM([]byte(p.Certificate)) {
		return nil, errors.Join(errors.New("the server's certificate cannot be read"), p.Close())
	}
	return p, nil
}

// Close ends the server.
func (p *Process) Close() error {
	return errors.Join(p.stdin.Close(), p.cmd.Wait())
}

// URL returns the base URL at which the server delays each response by delay, which must be one of Delays.
func (p *Process) URL(secure bool, delay time.Duration) string {
	for _, d := range p.Doors {
		if d.Secure == secure && d.Delay == delay {
			return d.URL
		}
	}
	panic("loopback: no such door")
}

// Transport returns a transport that trusts the server, with as many idle connections as its callers need.
func (p *Process) Transport(idle int) *http.Transport {
	return &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: p.Roots, MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost: idle,
	}
}
