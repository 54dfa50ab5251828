package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// TrackingNumber is one entry of POST /upload/trackingNumber, which is published and not part of the interface. The JSON
// names are uniqueId, company, number and remark.
type TrackingNumber struct {
	UniqueID string // of the transaction whose goods were shipped
	Company  string // logistics company, at most 255 characters
	Number   string // optional: only in the published example, not in the table
	Remark   string // at most 255 characters
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
		m := d.object(path, item)
		if m == nil {
			continue
		}
		for _, name := range []string{"uniqueId", "company"} {
			if absent(m[name]) {
				d.problem(path+"."+name, "missing")
				m[name] = nil
			}
		}
		var e TrackingNumber
		if v := m["uniqueId"]; v != nil {
			d.refundUniqueID(path+".uniqueId", v)
			e.UniqueID = d.pay.refundUniqueID
		}
		if v := m["company"]; v != nil {
			e.Company = d.text(path+".company", v, 255)
		}
		e.Number = d.optionalText(path+".number", m["number"], 0)
		e.Remark = d.optionalText(path+".remark", m["remark"], 255)
		entries = append(entries, e)
	}
	return entries, d.problems
}
