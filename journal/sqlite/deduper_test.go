package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal/sqlite"
	"github.com/cardgateway/cardgateway-go/notify"
)

// Two processes that share a journal handle each notification once.
func ExampleStore_NewDeduper() {
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "https://gateway.example", AppID: "123456"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for range 2 { // processes
		store, err := sqlite.Open(ctx, filepath.Join(dir, "payments.db"))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer store.Close()
		deduper, err := store.NewDeduper(ctx, client)
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = notify.Options{Deduper: deduper} // the handler calls Claim as follows
		result, err := deduper.Claim(ctx, "payment 4711 100")
		fmt.Println(result == notify.ClaimFresh, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}
