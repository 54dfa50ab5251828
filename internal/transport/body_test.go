package transport

import (
	"runtime"
	"testing"
)

// TestSealUnderContention races the seal against the first read of a body, thousands of times: whichever is first, both
// sides agree.
func TestSealUnderContention(t *testing.T) {
	const rounds = 20_000
	sealedFirst := 0
	for i := range rounds {
		b := &sealedBody{rest: []byte("card data")}
		read := make(chan int)
		go func() {
			n, _ := b.Read(make([]byte, 100))
			read <- n
		}()
		if i%2 == 0 {
			runtime.Gosched()
		}
		unread := b.seal()
		if n := <-read; unread != (n == 0) {
			t.Fatalf("seal says unread %v, %d bytes were read", unread, n)
		}
		if n, err := b.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Fatalf("read after the seal: got %d bytes, %v", n, err)
		}
		if unread {
			sealedFirst++
		}
	}
	t.Logf("%d races, the seal won %d", rounds, sealedFirst)
}
