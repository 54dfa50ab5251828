package journal_test

import (
	"testing"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/journaltest"
)

func TestMemoryStore(t *testing.T) {
	journaltest.Run(t, journaltest.Harness{
		Open:     func(testing.TB, string) (journal.Store, func()) { return journal.NewMemoryStore(), func() {} },
		Volatile: true,
	})
}
