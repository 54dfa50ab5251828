package journaltest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
)

// writerEnv contains the place of the store. A process in which it is set writes until it is killed.
const writerEnv = "CARDGATEWAY_JOURNALTEST_WRITER"

// testKilled starts a process that writes, and kills it; it does this four times. After each kill it checks that the
// store contains everything that the process reported as written.
func testKilled(t *testing.T, h Harness) {
	place := t.TempDir()
	said := make(map[string]int) // what was reported, by id: 1 begun, 2 recorded, 3 acknowledged
	chance := rand.New(rand.NewPCG(1, 2))
	for round := range 4 {
		lines := kill(t, place, time.Duration(50+chance.IntN(100))*time.Millisecond)
		for _, line := range lines {
			step, id, _ := strings.Cut(line, " ")
			said[id] = max(said[id], strings.Index(".BRA", step))
		}
		s, done := h.Open(t, place)
		checkSaid(t, s, said)
		done()
		if t.Failed() {
			t.Fatalf("after kill %d", round+1)
		}
	}
	if len(said) == 0 {
		t.Error("the killed processes had written nothing")
	}
	t.Logf("%d payments", len(said))
}

// kill starts the writer, kills it some time after its first report, and returns what it reported.
func kill(t *testing.T, place string, after time.Duration) (lines []string) {
	t.Helper()
	test := strings.Split(t.Name(), "/")
	test = test[:len(test)-1] // the one that called Run
	for i := range test {
		test[i] = regexp.QuoteMeta(test[i])
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+strings.Join(test, "$/^")+"$", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), writerEnv+"="+place)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	var timer *time.Timer
	for {
		line, err := in.ReadString('\n')
		if err != nil { // an unfinished line is not a report
			break
		}
		if word, ok := strings.CutPrefix(line, saidPrefix); ok {
			lines = append(lines, strings.TrimSuffix(word, "\n"))
			if timer == nil {
				timer = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			}
		}
	}
	_ = cmd.Wait() // killed
	return lines
}

const saidPrefix = "written: "

// write makes payments until the process is killed, and reports each write once it has returned.
func write(t *testing.T, h Harness, place string) {
	s, done := h.Open(t, place)
	defer done()
	fmt.Println()
	for i := 0; ; i++ {
		id := fmt.Sprintf("%d-%d", os.Getpid(), i)
		begin(t, s, intent(id, i))
		fmt.Println(saidPrefix + "B " + id)
		record(t, s, key(id), 0, answered(id))
		fmt.Println(saidPrefix + "R " + id)
		if i%2 == 0 {
			ack(t, s, key(id), 1)
			fmt.Println(saidPrefix + "A " + id)
		}
	}
}

func checkSaid(t *testing.T, s journal.Store, said map[string]int) {
	t.Helper()
	open := make(map[string]bool)
	for _, id := range unacked(t, s) {
		open[id] = true
	}
	for id, step := range said {
		e, created, err := s.Begin(t.Context(), intent(id, -1)) // of another sender than any that was written
		switch {
		case err != nil || created:
			t.Errorf("%s was begun, but created is %v, %v", id, created, err)
		case step >= 2 && len(e.Evidence) != 1:
			t.Errorf("%s has %d pieces of evidence, want 1", id, len(e.Evidence))
		case step == 3 && open[id]:
			t.Errorf("%s was reported as acknowledged, but is unacknowledged", id)
		case step < 2 && !open[id], step == 2 && !open[id] && e.Acked < 1:
			t.Errorf("%s is missing among the unacknowledged", id)
		}
	}
}
