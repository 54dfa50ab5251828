package transport

import (
	"errors"
	"io"
	"sync"
)

// sealedBody is a request body that can be read once, and that seal closes permanently. The seal is the proof of "not
// sent": after a seal before the first read, no transport can ever complete the request.
type sealedBody struct {
	mu     sync.Mutex
	rest   []byte
	begun  bool
	sealed bool
}

var errSealed = errors.New("cardgateway: the request was given up")

func (b *sealedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sealed {
		return 0, errSealed
	}
	b.begun = true
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *sealedBody) Close() error { return nil }

// seal prevents every later read and reports whether there was none before. After it the bytes may be overwritten.
func (b *sealedBody) seal() (unread bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealed, b.rest = true, nil
	return !b.begun
}
