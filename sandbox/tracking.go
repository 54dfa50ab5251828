package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
)

// TrackingNumber is one entry of POST /upload/trackingNumber, which is published and not part of the interface. The JSON
// names are uniqueId, company, number and remark.
type TrackingNumber struct {
	UniqueID string // of the transaction whose goods were shipped
	Company  string // logistics company, at most 255 characters
	Number   string // optional: only in the published example, not in the table
	Remark   string // at most 255 characters
}

// TrackingNumber returns the last entry that was uploaded for a payment. The error says that there is none.
func (g *Gateway) TrackingNumber(id string) (TrackingNumber, error) {
	g.lockSettled()
	defer g.mu.Unlock()
	o, err := g.ledger.payment(id)
	if err != nil {
		return TrackingNumber{}, err
	}
	e, ok := g.ledger.tracking[o.uniqueID]
	if !ok {
		return TrackingNumber{}, console.Conflict("the payment has no tracking number", "")
	}
	return e, nil
}

const maxTrackingNumbers = 99 // the published text says fewer than 100

// decodeTracking reads the array of entries. It does not check their number: too few or too many have their own code.
func decodeTracking(body []byte) ([]TrackingNumber, []string) {
	d := &decoder{op: OpUploadTrackingNumbers}
	var items []json.RawMessage
	if err := json.Unmarshal(body, &items); err != nil || bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
		d.problem("body", "not a JSON array")
		return nil, d.problems
	}
	var entries []TrackingNumber
	for i, item := range items {
		if len(d.problems) == maxProblems {
			break
		}
		path := fmt.Sprintf("[%d]", i)
		var e TrackingNumber
		if d.members(path, item,
			rule{"uniqueId", d.id(&e.UniqueID), "R"},
			rule{"company", d.text(&e.Company, 255), "R"},
			rule{"number", d.optional(&e.Number, 0), "O"},
			rule{"remark", d.optional(&e.Remark, 255), "O"},
		) != nil {
			entries = append(entries, e)
		}
	}
	return entries, d.problems
}

// uploadTrackingNumbers stores all entries or none. An entry replaces an earlier one with the same uniqueId.
func (l *ledger) uploadTrackingNumbers(c *call) reply {
	switch n := len(c.tracking); {
	case n == 0:
		return shortReply(codes.UploadFailed, "Upload data is empty")
	case n > maxTrackingNumbers:
		return shortReply(codes.UploadFailed, fmt.Sprintf("%d entries; at most %d are allowed", n, maxTrackingNumbers))
	}
	var unknown []string
	for i, e := range c.tracking {
		if l.find(e.UniqueID) == nil {
			unknown = append(unknown, fmt.Sprintf("[%d].uniqueId: unknown", i))
		}
	}
	if unknown != nil {
		return shortReply(codes.UploadFailed, strings.Join(unknown, "; "))
	}
	for _, e := range c.tracking {
		l.tracking[e.UniqueID] = e
		l.find(e.UniqueID).record("tracking number uploaded")
	}
	return shortReply(codes.Uploaded, codes.Message(codes.Uploaded))
}
