//go:build unix

package pgserver

import "testing"

func TestVersion(t *testing.T) {
	for _, test := range []struct {
		path string
		want float64
	}{
		{"/usr/lib/postgresql/9.6/bin", 9.6},
		{"/usr/lib/postgresql/16/bin", 16},
		{"/usr/lib/postgresql/local/bin", 0},
	} {
		t.Run(test.path, func(t *testing.T) {
			if got := version(test.path); got != test.want {
				t.Errorf("%s: got %g, want %g", test.path, got, test.want)
			}
		})
	}
}
