package listing

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// times is a series of rows at the given seconds of Unix time.
type times []int64

func (s times) Len() int           { return len(s) }
func (s times) At(i int) time.Time { return time.Unix(s[i], 0) }

func inOrder(_ int64, _, p int) int { return p }

// TestPages merges two series and reads pages of every size at every position.
func TestPages(t *testing.T) {
	a, b := times{10, 20, 20, 20, 30, 90}, times{5, 20, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31}
	l := New(10, 60)
	l.Add(a, len(a), time.UTC)
	l.Add(b, len(b), time.UTC)
	if got, want := l.Total(), 5+11; got != want {
		t.Fatalf("Total() = %d, want %d", got, want)
	}
	all := describe(l.Page(0, 100, true, inOrder))
	if want := "10 20 20 20 20 30 31 31 31 31 31 31 31 31 31 31"; fmt.Sprint(all) != "["+want+"]" {
		t.Errorf("all rows = %v, want %s", all, want)
	}
	newest := slices.Clone(all)
	slices.Reverse(newest)
	for start := range 17 {
		for end := start; end <= 17; end++ {
			cut := func(of []int64) []int64 { return of[min(start, len(of)):min(end, len(of))] }
			if got := describe(l.Page(start, end, true, inOrder)); !slices.Equal(got, cut(all)) {
				t.Errorf("rows %d to %d, oldest first = %v, want %v", start, end, got, cut(all))
			}
			if got := describe(l.Page(start, end, false, inOrder)); !slices.Equal(got, cut(newest)) {
				t.Errorf("rows %d to %d, newest first = %v, want %v", start, end, got, cut(newest))
			}
		}
	}
}

func describe(refs []RowRef) []int64 {
	seconds := []int64{}
	for _, r := range refs {
		seconds = append(seconds, r.Series.(times)[r.I])
	}
	return seconds
}
