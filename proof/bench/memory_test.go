package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/cardgateway/cardgateway-go/proof/bench/internal/loopback"
)

// walkOrder is the environment variable that tells a separate process which walk to make.
type walkOrder struct {
	Client, URL string
	Months      int
}

const walkVariable = "CARDGATEWAY_BENCH_WALK"

// BenchmarkWalkMemory reports the largest resident size of a process that only makes one walk.
func BenchmarkWalkMemory(b *testing.B) {
	if _, err := peakMemory(); err != nil {
		b.Skip("the peak of resident memory is not known here: ", err)
	}
	for _, months := range []int{12, 60} {
		for _, client := range []string{"hand", "cardgateway-4", "cardgateway-16", "cardgateway-default", "stripe-go"} {
			b.Run(fmt.Sprintf("months=%d/client=%s", months, client), func(b *testing.B) {
				var sum float64
				for range b.N {
					peak, err := walkApart(walkOrder{client, server.URL(false, 0), months})
					if err != nil {
						b.Fatal(err)
					}
					sum += peak
				}
				b.ReportMetric(sum/float64(b.N), "peak-B")
			})
		}
	}
}

func walkApart(order walkOrder) (peak float64, err error) {
	text, err := json.Marshal(order)
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=walk", walkVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
}

// walkAlone makes the walk in that process.
func walkAlone() error {
	var order walkOrder
	if err := json.Unmarshal([]byte(os.Getenv(walkVariable)), &order); err != nil {
		return err
	}
	walkers, err := walkersOf(loopback.At(order.URL), false, 0)
	if err != nil {
		return err
	}
	for _, w := range walkers {
		if w.client != order.Client {
			continue
		}
		if rows, err := w.walk(context.Background(), order.Months); err != nil || rows != order.Months*loopback.RowsPerMonth {
			return fmt.Errorf("saw %d rows, %w", rows, err)
		}
	}
	peak, err := peakMemory()
	fmt.Println(peak)
	return err
}

var peakLine = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// peakMemory returns the largest resident size of this process so far in bytes, from Linux.
func peakMemory() (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	line := peakLine.FindSubmatch(status)
	if line == nil {
		return 0, fmt.Errorf("no %v", peakLine)
	}
	kilobytes, err := strconv.Atoi(string(line[1]))
	return kilobytes * 1024, err
}

func TestWalkApart(t *testing.T) {
	if _, err := peakMemory(); err != nil {
		t.Skip("the peak of resident memory is not known here: ", err)
	}
	peak, err := walkApart(walkOrder{"cardgateway-4", server.URL(false, 0), 1})
	if err != nil || peak <= 0 {
		t.Errorf("got %g, %v, want a size", peak, err)
	}
}
