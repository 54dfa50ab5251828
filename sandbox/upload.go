package sandbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// uploadTrackingNumbers stores all entries or none. An entry replaces an earlier one with the same uniqueId.
func (g *Gateway) uploadTrackingNumbers(c *call) reply {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch n := len(c.tracking); {
	case n == 0:
		return uploadReply(codes.UploadFailed, "Upload data is empty")
	case n > maxTrackingNumbers:
		return uploadReply(codes.UploadFailed, fmt.Sprintf("%d entries; at most %d are allowed", n, maxTrackingNumbers))
	}
	var unknown []string
	for i, e := range c.tracking {
		if g.ledger.find(e.UniqueID) == nil {
			unknown = append(unknown, fmt.Sprintf("[%d].uniqueId: unknown", i))
		}
	}
	if unknown != nil {
		return uploadReply(codes.UploadFailed, strings.Join(unknown, "; "))
	}
	for _, e := range c.tracking {
		g.ledger.tracking[e.UniqueID] = e
		if o := g.ledger.byUniqueID[e.UniqueID]; o != nil {
			o.record("tracking number uploaded")
		}
	}
	return uploadReply(codes.Uploaded, codes.Message(codes.Uploaded))
}

func uploadReply(code int, message string) reply {
	o := jsonobject.New().Number("code", int64(code)).Text("message", message)
	return jsonReply(o.Number("timestamp", time.Now().UnixMilli()).End())
}

// TrackingNumber returns the last entry that was uploaded for a transaction.
func (g *Gateway) TrackingNumber(uniqueID string) (_ TrackingNumber, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e, ok := g.ledger.tracking[uniqueID]
	return e, ok
}
