package temporal

import (
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"
)

// TestReplay: the workflows go the same way through the histories that were recorded, by temporal workflow show --output json. A workflow
// that is running when the program is replaced depends on that: a change that needs other histories must use workflow.GetVersion instead.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != 3 {
		t.Fatalf("got %q, %v", files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflow(Settle)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet, name); err != nil {
				t.Error(err)
			}
		})
	}
}
