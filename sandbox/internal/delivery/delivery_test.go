package delivery

import "testing"

func TestReservedHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"http://shop.example/n": true, "http://example.com": true, "http://a.example.com:8080/": true,
		"http://x.test": true, "http://127.0.0.1:80/n": false, "http://shop.internal": false, "http://myexample.com": false,
	} {
		if got := reserved(host); got != want {
			t.Errorf("reserved(%q) = %v, want %v", host, got, want)
		}
	}
}
