package main

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/temporal"
)

// TestOrderReplays: orders whose histories were recorded before and after the receipt was added can go on.
func TestOrderReplays(t *testing.T) {
	for _, name := range []string{"order-without-receipt.json", "order-with-receipt.json"} {
		t.Run(name, func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflow(order)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(nil, "testdata/"+name); err != nil {
				t.Error(err)
			}
		})
	}
}

var record = flag.String("record", "", "address of a development server with which the histories in testdata are recorded")

// orderWithoutReceipt is the workflow as it was.
func orderWithoutReceipt(ctx workflow.Context, transactionID string) (string, error) {
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		TaskQueue: paymentQueue, WorkflowID: temporal.Engine{TaskQueue: paymentQueue}.WorkflowID(journal.PaymentID(transactionID)),
	})
	in := temporal.Settlement{ID: journal.PaymentID(transactionID), FirstQuery: time.Second}
	if err := workflow.ExecuteChildWorkflow(ctx, temporal.Settle, in).Get(ctx, nil); err != nil {
		return "", err
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	return "shipped", workflow.ExecuteActivity(ctx, ship, transactionID).Get(ctx, nil)
}

// TestRecord records the histories, if it is asked to.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("skipped: no -record")
	}
	c, err := client.Dial(client.Options{HostPort: *record, Identity: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	paid := func(workflow.Context, temporal.Settlement) (temporal.Status, error) {
		return temporal.Status{State: journal.Succeeded.String(), Submissions: 1}, nil
	}
	payments := worker.New(c, paymentQueue, worker.Options{})
	payments.RegisterWorkflowWithOptions(paid, workflow.RegisterOptions{Name: "Settle"})
	if err := payments.Start(); err != nil {
		t.Fatal(err)
	}
	defer payments.Stop()
	for name, f := range map[string]any{"order-without-receipt": orderWithoutReceipt, "order-with-receipt": order} {
		w := worker.New(c, name, worker.Options{})
		w.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: "order"})
		w.RegisterActivity(sendReceipt)
		w.RegisterActivity(ship)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: name}, "order", name)
		if err == nil {
			err = run.Get(t.Context(), nil)
		}
		w.Stop()
		if err != nil {
			t.Fatal(err)
		}
		var all history.History
		for events := c.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
			event, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			all.Events = append(all.Events, event)
		}
		text, err := protojson.MarshalOptions{Indent: "\t"}.Marshal(&all)
		if err == nil {
			err = os.WriteFile("testdata/"+name+".json", append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestEncryption: what is stored does not show what it contains, and cannot be read with another key or without one.
func TestEncryption(t *testing.T) {
	key := newKey()
	c, err := newEncryption(key)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := c.ToPayload(temporal.Status{State: "succeeded"})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(stored.Data, []byte("succeeded")) {
		t.Error("the payload is readable")
	}
	var got temporal.Status
	if err := c.FromPayload(stored, &got); err != nil || got.State != "succeeded" {
		t.Errorf("got %+v, %v", got, err)
	}
	plain, err := converter.GetDefaultDataConverter().ToPayload("x")
	if err != nil {
		t.Fatal(err)
	}
	other, err := newEncryption(newKey())
	if err != nil {
		t.Fatal(err)
	}
	changed := &common.Payload{Metadata: stored.Metadata, Data: append([]byte{1}, stored.Data...)}
	for _, test := range []struct {
		name    string
		with    converter.DataConverter
		payload *common.Payload
	}{{"another key", other, stored}, {"not encrypted", c, plain}, {"changed", c, changed}} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.with.FromPayload(test.payload, new(temporal.Status)); err == nil {
				t.Error("got no error")
			}
		})
	}
	if _, err := newEncryption(key[:5]); err == nil {
		t.Error("a short key: got no error")
	}
}
