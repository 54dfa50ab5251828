package goroutine_test

import (
	"runtime"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/goroutine"
)

func TestRethrow(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    func()
		want string
	}{
		{"returns", func() {}, "returned"},
		{"panics", func() { panic("a fault") }, "panicked"},
		{"exits", runtime.Goexit, "exited"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			endings, got := make(chan goroutine.Ending, 1), make(chan string, 1)
			goroutine.Start(tt.f, func(end goroutine.Ending) { endings <- end })
			go func() {
				how := "exited"
				defer func() {
					if recover() == "a fault" {
						how = "panicked"
					}
					got <- how
				}()
				end := <-endings
				end.Rethrow()
				how = "returned"
			}()
			if how := <-got; how != tt.want {
				t.Errorf("got %s, want %s", how, tt.want)
			}
		})
	}
}
