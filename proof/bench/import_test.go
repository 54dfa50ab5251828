package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkImport builds a small program with each library, with an empty build cache, and reports the size of the
// binary without symbols. The time includes the standard library's packages that the program needs.
func BenchmarkImport(b *testing.B) {
	for _, client := range []string{"empty", "nethttp", "cardgateway", "stripe"} {
		b.Run("client="+client, func(b *testing.B) {
			var size int64
			for range b.N {
				b.StopTimer()
				dir := b.TempDir()
				program := filepath.Join(dir, "program")
				cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./importcost/"+client)
				cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"), "CGO_ENABLED=0")
				b.StartTimer()
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				b.StopTimer()
				info, err := os.Stat(program)
				if err != nil {
					b.Fatal(err)
				}
				size += info.Size()
			}
			b.ReportMetric(float64(size)/float64(b.N), "binary-B")
		})
	}
}
