package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestServe starts the command, asks it for its seeded orders, and stops it.
func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"-merchant", "m", "-secret", "s", "-seed", "50", "-days", "2"}, in) }()
	base, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	r, err := http.NewRequest("GET", strings.TrimSpace(base)+"/search/list/order?startDate="+
		now.AddDate(0, 0, -4).Format(time.DateOnly)+"&endingDate="+now.AddDate(0, 0, 2).Format(time.DateOnly), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("m", "s")
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var page struct{ Code, TotalCount int }
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil || page.Code != 121 || page.TotalCount != 50 {
		t.Errorf("page %+v, %v, want code 121 and 50 orders", page, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the command ended with %v", err)
	}
}

func TestNotify(t *testing.T) {
	const guard = "AGsC0123"
	var got struct{ TransactionID, Sign, Token string }
	status := http.StatusOK
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
	}))
	defer shop.Close()
	args := []string{"-notify", shop.URL, "-secret", "s", "-transaction", "order-1", "-token", "tok"}
	if err := run(t.Context(), args, io.Discard); err != nil {
		t.Error(err)
	}
	if got.TransactionID != "order-1" || len(got.Sign) != 64 || got.Token != "tok" {
		t.Errorf("the shop got %+v", got)
	}
	status = http.StatusInternalServerError
	if err := run(t.Context(), args, io.Discard); err == nil {
		t.Error("a refused notification counts as delivered")
	}
	for _, to := range []string{"http://127.0.0.1:1/note?bind=", "ht tp://127.0.0.1:1/note?bind="} {
		if err := run(t.Context(), []string{"-notify", to + guard}, io.Discard); err == nil || strings.Contains(err.Error(), guard) {
			t.Errorf("a notification to nobody: got %v", err)
		}
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"-location", "Nowhere/Land"}, {"extra"}, {"-nosuchflag"}, {"-addr", "nonsense"}, {"-seed", "-1"}, {"-days", "0"}, {"-merchant", "m"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}
