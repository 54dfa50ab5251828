package notify

import (
	"encoding/json"
	"os"
	"testing"
)

// TestLimitsOfTheInterface compares the limits in this package with the interface table.
func TestLimitsOfTheInterface(t *testing.T) {
	var table struct {
		Operations []struct {
			Name    string
			Members []struct {
				Name  string
				Limit int
			}
		}
	}
	data, err := os.ReadFile("../testdata/interface.json")
	if err == nil {
		err = json.Unmarshal(data, &table)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"transactionId": maxTransactionID, "notificationUrl": maxURL}
	checked := 0
	for _, op := range table.Operations {
		for _, m := range op.Members {
			if limit, ok := want[m.Name]; ok && op.Name == "CreateTokenOrder" {
				checked++
				if limit != m.Limit {
					t.Errorf("%s: got a limit of %d, want %d", m.Name, limit, m.Limit)
				}
			}
		}
	}
	if checked != len(want) {
		t.Errorf("members compared: got %d, want %d", checked, len(want))
	}
}
