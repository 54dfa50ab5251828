package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/proof/bench/internal/loopback"
)

var pageSizes = []int{100, 999}

// BenchmarkDecode decodes a page in memory into rows.
func BenchmarkDecode(b *testing.B) {
	all, err := decoders()
	if err != nil {
		b.Fatal(err)
	}
	for _, rows := range pageSizes {
		data := loopback.Page(rows)
		for _, d := range all {
			b.Run(fmt.Sprintf("rows=%d/client=%s", rows, d.client), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				measure(b, 1, func(context.Context) error {
					got, err := d.decode(data)
					if err == nil && got != rows {
						err = fmt.Errorf("got %d rows, want %d", got, rows)
					}
					return err
				})
			})
		}
	}
}

// TestDecodersAgree compares what the client and encoding/json read.
func TestDecodersAgree(t *testing.T) {
	var byHand page
	if err := json.Unmarshal(loopback.Page(100), &byHand); err != nil {
		t.Fatal(err)
	}
	own, err := ownClient(server, server.URL(false, 0))
	if err != nil {
		t.Fatal(err)
	}
	page, err := own.SearchOrders(t.Context(), allOrders, cardgateway.PageRequest{PageSize: 100})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range byHand.Data {
		got := page.Data[i]
		if got.UniqueID != want.UniqueID || got.TransactionID != want.TransactionID ||
			!got.TransactionAmount.Equal(want.TransactionAmount) || got.TransactionAt != want.TransactionAt ||
			!got.Timestamp.Equal(want.Timestamp.time()) || got.BillingAddress.LastName != want.BillingAddress.LastName {
			t.Errorf("row %d: got %+v, want %+v", i, got, want)
		}
	}
}
