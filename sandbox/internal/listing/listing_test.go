package listing

import (
	"fmt"
	"slices"
	"sort"
	"testing"
	"time"
)

// times is a series of rows at the given seconds of Unix time.
type times []int64

func (s times) Len() int           { return len(s) }
func (s times) At(i int) time.Time { return time.Unix(s[i], 0) }

func inOrder(_ int64, _, p int) int { return p }

// TestFind: the first row found for a time agrees with the times of the rows.
func TestFind(t *testing.T) {
	rows := times{100, 100, 103, 110, 110, 110, 200}
	for offset := int64(-50); offset <= 50; offset += 25 {
		r := zoneRun[times]{series: rows, hi: len(rows), offset: offset}
		for second := int64(0); second < 300; second++ {
			want := sort.Search(len(rows), func(i int) bool { return rows[i]+offset >= second })
			if got := r.find(second); got != want {
				t.Fatalf("offset %d: find(%d) = %d, want %d", offset, second, got, want)
			}
		}
	}
}

// TestPages merges two series and reads pages of every size at every position.
func TestPages(t *testing.T) {
	a, b := times{10, 20, 20, 20, 30, 90}, times{5, 20, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31}
	l := New[times](10, 60)
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

func describe(refs []RowRef[times]) []int64 {
	seconds := []int64{}
	for _, r := range refs {
		seconds = append(seconds, r.Series[r.I])
	}
	return seconds
}

// TestClockChange: if the clocks are set back, rows of two hours are merged by their wall-clock times.
func TestClockChange(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skipf("no time zone data: %v", err)
	}
	change := time.Date(2024, 11, 3, 6, 0, 0, 0, time.UTC).Unix() // 2:00 becomes 1:00
	rows := times{change - 3600, change - 1800, change, change + 1800}
	wall := func(hour, minute int) int64 { return time.Date(2024, 11, 3, hour, minute, 0, 0, time.UTC).Unix() }
	l := New[times](wall(1, 0), wall(1, 59))
	l.Add(rows, len(rows), loc)
	got := describe(l.Page(0, 10, true, inOrder))
	if want := []int64{change - 3600, change, change - 1800, change + 1800}; !slices.Equal(got, want) {
		t.Errorf("rows = %v, want %v", got, want)
	}
}

// TestTie: the caller selects the order of the rows of one second.
func TestTie(t *testing.T) {
	rows := times{7, 7, 7}
	l := New[times](0, 10)
	l.Add(rows, len(rows), time.UTC)
	var got []int
	for _, r := range l.Page(0, 3, true, func(_ int64, n, p int) int { return n - 1 - p }) {
		got = append(got, r.I)
	}
	if want := []int{2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("rows = %v, want %v", got, want)
	}
}
