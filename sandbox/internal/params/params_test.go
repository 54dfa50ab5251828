package params

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestReader reads values by every method: what is wrong with one is said with its name, and so is a value that nothing reads.
func TestReader(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		read        func(r *Reader) any
		want        any
		problem     string // part of Err, or empty
	}{
		{"text", "a=x", func(r *Reader) any { return r.Text("a", 1) }, "x", ""},
		{"no text", "", func(r *Reader) any { return r.Text("a", 1) }, "", ""},
		{"long text", "a=%E5%96%AE%E5%96%AE", func(r *Reader) any { return r.Text("a", 1) }, "單單", "a: longer than 1 characters"},
		{"text twice", "a=x&a=y", func(r *Reader) any { return r.Text("a", 0) }, "", "a: occurs twice"},
		{"unknown name", "a=x&b=y", func(r *Reader) any { return r.Text("a", 0) }, "x", `unknown member "b"; known are "a"`},
		{"bool", "a=true", func(r *Reader) any { return r.Bool("a", false) }, true, ""},
		{"no bool", "", func(r *Reader) any { return r.Bool("a", true) }, true, ""},
		{"wrong bool", "a=yes", func(r *Reader) any { return r.Bool("a", true) }, true, "a: neither true nor false"},
		{"number", "a=7", func(r *Reader) any { return r.Number("a", 1, 7) }, 7, ""},
		{"large number", "a=8", func(r *Reader) any { return r.Number("a", 1, 7) }, 1, "a: not a number from 0 to 7"},
		{"negative number", "a=-1", func(r *Reader) any { return r.Number("a", 1, 7) }, 1, "a: not a number"},
		{"duration", "a=5s", func(r *Reader) any { return r.Duration("a", time.Second, time.Minute) }, 5 * time.Second, ""},
		{"long duration", "a=2m", func(r *Reader) any { return r.Duration("a", time.Second, time.Minute) }, time.Second, "at most 1m0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			values, err := url.ParseQuery(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			r := Of(values)
			if got := tt.read(r); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if err := r.Err(); (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("got %v, want %q", err, tt.problem)
			}
		})
	}
}

// TestJSON reads an object of plain values, and refuses what is not one.
func TestJSON(t *testing.T) {
	r, err := JSON([]byte(`{"a":"x","b":1.50,"c":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Text("a", 0) + " " + r.Text("b", 0) + " " + r.Text("c", 0); got != "x 1.50 true" || r.Err() != nil {
		t.Errorf("got %q and %v, want x 1.50 true", got, r.Err())
	}
	for _, body := range []string{`[]`, `{"a":{}}`, `{"a":[1]}`, `{"a":1,"a":2}`, `{"a":1} 2`, `x`} {
		t.Run(body, func(t *testing.T) {
			if _, err := JSON([]byte(body)); err == nil {
				t.Error("it is accepted")
			}
		})
	}
}
