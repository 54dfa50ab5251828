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

// Notification is a notification to send.
type Notification struct {
	Kind                    string // Sale, Authorization, Tokenization, Refund or Chargeback
	TransactionID, UniqueID string
	Amount, Currency        string
	RefundID                string // the merchant's id of the refund
	RefundUniqueID          string // the gateway's
	Token                   string // empty means none
	AppID                   string // empty means none
	Code                    int    // zero means the one of success
}

// Fields returns the members of the published example of the kind, with the token under the given name.
func (n Notification) Fields(tokenMember string) map[string]any {
	fields := map[string]any{
		"isTest": true, "uniqueId": n.UniqueID, "transactionType": n.Kind, "timestamp": time.Now().UnixMilli(),
	}
	if n.AppID != "" {
		fields["appId"] = json.Number(n.AppID)
	}
	switch n.Kind {
	case "Refund":
		fields["code"] = cmp.Or(n.Code, 111)
		fields["message"], fields["refundMessage"] = "Refund successful", "Refund successful"
		if n.Code != 0 && n.Code != 111 {
			fields["message"], fields["refundMessage"] = "Refund failed", "Refund failed"
		}
		fields["refundCurrency"], fields["refundAmount"] = n.Currency, n.Amount
		fields["refundUniqueId"], fields["merchantRefundId"] = n.RefundUniqueID, n.RefundID
	case "Chargeback": // the published example begins without a code
		fields["chargebackCurrency"], fields["chargebackAmount"] = n.Currency, n.Amount
		if n.Code != 0 {
			fields["code"] = n.Code
		}
	default:
		fields["code"] = cmp.Or(n.Code, 100)
		fields["transactionId"] = n.TransactionID
		fields["transactionCurrency"], fields["transactionAmount"] = n.Currency, n.Amount
		fields["billDescription"], fields["transactionCardNumber"] = "sandbox.example", "430000******0000"
	}
	if n.Token != "" {
		fields[tokenMember] = n.Token
	}
	return fields
}

// withoutURL removes the URL from an error, because its query may be the only protection of a token.
func withoutURL(what string, err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", what, failed.Err)
	}
	return err
}

// ErrNotAccepted says that a notification was delivered, and the response was not 200.
var ErrNotAccepted = errors.New("not accepted")

// notification is sent by -notify.
type notification struct {
	url string
	Notification
}

// send delivers the notification once.
func (n notification) send(ctx context.Context, secretKey, tokenMember string, out io.Writer) error {
	fields := n.Fields(tokenMember)
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
