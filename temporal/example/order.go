package main

import (
	"context"
	"time"

	"go.temporal.io/api/enums/v1"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/temporal"
)

// The task queues of the payments, and of the merchant's own workflows.
const (
	paymentQueue = "shop-payments"
	orderQueue   = "shop-orders"
)

// order is a workflow of the merchant: the order is paid, and then shipped.
//
// It was changed when orders were already under way: a receipt is sent before the order is shipped. Their histories have no
// receipt, so that the workflow must not ask for one when it is replayed with them: workflow.GetVersion tells.
func order(ctx workflow.Context, transactionID string) (string, error) {
	id := journal.PaymentID(transactionID)
	pay, _ := workflow.NewDisconnectedContext(ctx) // if the order is canceled or terminated, its payment is followed all the same
	pay = workflow.WithChildOptions(pay, workflow.ChildWorkflowOptions{
		TaskQueue: paymentQueue, WorkflowID: temporal.Engine{TaskQueue: paymentQueue}.WorkflowID(id), // so that notifications find it
		ParentClosePolicy: enums.PARENT_CLOSE_POLICY_ABANDON,
	})
	var status temporal.Status
	if err := workflow.ExecuteChildWorkflow(pay, temporal.Settle, temporal.Settlement{ID: id, FirstQuery: time.Second}).Get(pay, &status); err != nil {
		return "", err
	}
	if status.State != journal.Succeeded.String() {
		return status.State, nil
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, RetryPolicy: &sdk.RetryPolicy{MaximumInterval: time.Minute},
	})
	if workflow.GetVersion(ctx, "receipt", workflow.DefaultVersion, 1) >= 1 {
		if err := workflow.ExecuteActivity(ctx, sendReceipt, transactionID).Get(ctx, nil); err != nil {
			return "", err
		}
	}
	return "shipped", workflow.ExecuteActivity(ctx, ship, transactionID).Get(ctx, nil)
}

// sendReceipt and ship stand for what a shop does. They may be called again with the same id.
func sendReceipt(context.Context, string) error { return nil }

func ship(context.Context, string) error { return nil }
