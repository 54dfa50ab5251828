package sandboxcommand

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// notification is the one that -notify sends.
type notification struct {
	url, kind, transactionID, uniqueID, amount, currency, token, appID string
	refundID, refundUniqueID                                           string
	code                                                               int // zero means that of its kind
}

// fields are the members of the published example of each kind.
func (n notification) fields(tokenMember string) map[string]any {
	fields := map[string]any{
		"appId": json.Number(cmp.Or(n.appID, "3")), "isTest": true, "uniqueId": n.uniqueID, "transactionType": n.kind,
		"timestamp": time.Now().UnixMilli(),
	}
	switch n.kind {
	case "Refund":
		fields["code"] = cmp.Or(n.code, 111)
		fields["message"], fields["refundMessage"] = "Refund successful", "Refund successful"
		if n.code != 0 && n.code != 111 {
			fields["message"], fields["refundMessage"] = "Refund failed", "Refund failed"
		}
		fields["refundCurrency"], fields["refundAmount"] = n.currency, n.amount
		fields["refundUniqueId"], fields["merchantRefundId"] = n.refundUniqueID, n.refundID
	case "Chargeback": // the published example begins without a code
		fields["chargebackCurrency"], fields["chargebackAmount"] = n.currency, n.amount
		if n.code != 0 {
			fields["code"] = n.code
		}
	default:
		fields["code"] = cmp.Or(n.code, 100)
		fields["transactionId"] = n.transactionID
		fields["transactionCurrency"], fields["transactionAmount"] = n.currency, n.amount
		fields["billDescription"], fields["transactionCardNumber"] = "sandbox.example", "430000******0000"
	}
	if n.token != "" {
		fields[tokenMember] = n.token
	}
	return fields
}

// withoutURL keeps the address out of an error that would print it: its query can be all that guards a token.
func withoutURL(what string, err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", what, failed.Err)
	}
	return err
}

// ErrNotAccepted says that a notification was delivered, and not answered with 200.
var ErrNotAccepted = errors.New("not accepted")

// send delivers the notification once.
func (n notification) send(ctx context.Context, secretKey, tokenMember string, out io.Writer) error {
	fields := n.fields(tokenMember)
	r, err := sandbox.NotificationRequest(n.url, secretKey, fields)
	if err != nil {
		return withoutURL("-notify", err)
	}
	client := &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return withoutURL("not delivered", err)
	}
	defer resp.Body.Close()
	if _, err := fmt.Fprintln(out, resp.StatusCode); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: HTTP status %q", ErrNotAccepted, resp.Status)
	}
	return nil
}
